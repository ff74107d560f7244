// The wall-time driver on one machine: a master and n worker threads in one process.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"
#include "paceline/expected.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

/// What the observer of a live run is told when a round has closed and its gradients are applied.
struct RoundReport {
  const RoundRecord* record = nullptr;

  struct Job {
    JobId job;
    ModelId model;
    double loss = 0;  ///< mean loss over the samples of the messages used
  };

  std::vector<Job> jobs;  ///< decoded in this round
};

struct LocalRunOptions {
  int workers = 0;
  std::vector<double> chunk_size;  ///< of the scheme
  int parts = 1;                   ///< of the scheme
  int micro_batch = 256;           ///< samples between two looks at a stop
  /// Injected response times: an answer is held back until `delay.at(load)` after its order was
  /// sent; a worker whose real computing takes longer answers when it is done. nullptr: no
  /// injection.
  const DelaySource* delays = nullptr;
  /// Threads that may compute at the same time; the others wait, earliest injected answer first, so
  /// that few cores stand in for many machines. 0: as many as the machine has cores.
  int compute_slots = 0;
  bool verify = false;  ///< compare every decoded gradient with the directly computed one, off the
                        ///< critical path
  std::function<void(const RoundReport&)>
      observer;  ///< called from the calling thread; may be empty
  const std::atomic<bool>* interrupted =
      nullptr;  ///< set by a signal handler; ends the run after a wake-up
};

struct LocalRunResult {
  Seconds total{0};
  int rounds = 0;
  int jobs = 0;
  int wait_outs = 0;
  double mean_stragglers = 0;
  double worst_verify_error =
      0;             ///< largest relative error of a decoded gradient; 0 if not verified
  int verified = 0;  ///< gradients compared
  int overruns =
      0;  ///< answers that computing made later than injected by more than 5 % (too few cores)
  long long messages = 0;      ///< received
  double bytes_per_round = 0;  ///< payload bytes received per round, mean
};

/// Runs `coordinator` to its end. All threads have ended when it returns.
///
/// @param bank     models and optimizers; changed
/// @param sources  one per model; cloned per compute slot
/// @return an error of code kFailed (first error of a worker, a message that is not finite) or
/// kInterrupted
Expected<LocalRunResult> run_local(Coordinator& coordinator,
                                   ModelBank& bank,
                                   const std::vector<std::unique_ptr<GradientSource>>& sources,
                                   const BatchSampler& sampler,
                                   const LocalRunOptions& options);

}  // namespace paceline
