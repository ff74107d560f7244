// Compares decoded gradients with directly computed ones, off the critical path.
//
// The direct gradient of a job is the plain sum over its whole batch at the parameters the job
// read. It is computed in pieces of one micro-batch, each of which the compute pool does only while
// no worker waits for a slot, so verification uses time that would be idle and delays an answer by
// one piece at most.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/model_bank.hpp"
#include "runtime/compute_pool.hpp"

namespace paceline {

struct Verified {
  int count = 0;
  double worst = 0;  ///< largest |decoded - direct| / |direct|
};

struct VerifierOptions {
  std::size_t length = 0;  ///< d
  int micro_batch = 1;     ///< samples per piece
  /// What queued comparisons may hold; four may always wait.
  std::size_t most_bytes = std::size_t{256} << 20U;
  std::function<bool()> interrupted;  ///< asked while waiting; true ends the wait; may be empty
};

class Verifier {
 public:
  Verifier(ComputePool& pool, const BatchSampler& sampler, VerifierOptions options);
  /// Closes the pool: its threads may be computing for this verifier.
  ~Verifier();

  /// Queues a comparison. Waits while the queue holds as much as it may.
  ///
  /// @param read     version the job read, `parameters` its values
  /// @param decoded  shape (d): the decoded sum
  /// @return an error of code kFailed (the source threw) or kInterrupted
  Expected<void> submit(
      JobId job, ModelId model, Version read, Parameters parameters, std::vector<float> decoded);

  /// Waits until everything submitted is compared.
  Expected<Verified> finish();

 private:
  struct Comparison final : Work {
    explicit Comparison(Verifier& v) : verifier(v) {}

    void run(ComputeSlot& slot) override { verifier.step(*this, slot); }

    Verifier& verifier;
    JobId job;
    ModelId model;
    Parameters parameters;
    std::vector<float> decoded;
    std::vector<float> direct;
    std::vector<int> batch;
    std::size_t next = 0;  ///< first sample of the batch that is not in `direct` yet
  };

  Expected<void> wait_until_at_most(std::size_t open);
  void step(Comparison& comparison, ComputeSlot& slot);
  void add_piece(Comparison& comparison, ComputeSlot& slot) const;

  ComputePool& pool_;
  const BatchSampler& sampler_;
  VerifierOptions options_;
  std::size_t most_open_;    ///< comparisons
  std::vector<float> ones_;  ///< weights of a piece

  std::mutex mutex_;
  std::condition_variable compared_;
  std::list<Comparison> open_;
  Verified verified_;
  std::optional<Error> failure_;
};

}  // namespace paceline
