// The wall-time driver on one machine: a master, n workers, and the threads that compute for them.
// docs/runtime.md says how a round runs, what is injected and what is real.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"
#include "paceline/expected.hpp"
#include "paceline/faults.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/message_type.hpp"
#include "paceline/model_bank.hpp"
#include "paceline/run_state.hpp"

namespace paceline {

/// What the observer of a live run is told when a round has closed and its gradients are applied.
struct RoundReport {
  const RoundRecord* record = nullptr;  ///< never null in a call

  struct Job {
    JobId job;
    ModelId model;
    double loss = 0;       ///< mean loss over the samples of the messages used
    double residual = 0;   ///< of its decoding; rounding only where the code is exact
    bool skipped = false;  ///< it left too much for a step (ModelBankOptions::skip_above)
  };

  std::vector<Job> jobs;  ///< decoded in this round, or by late answers since the last one
};

/// A piece of work that kept the master from looking at answers.
struct MasterWork {
  std::string_view what;  ///< "plan" (the coordinator), "send" or "decode" (and the update)
  Seconds began{0};       ///< since the run's start
  Seconds ended{0};
};

struct LocalRunOptions {
  int workers = 0;                 ///< n >= 1
  std::vector<double> chunk_size;  ///< of the scheme
  MessageShape shape = {};         ///< of the scheme
  int micro_batch = 256;           ///< samples between two looks at a stop, >= 1
  /// What workers round their messages to before they send them; scheme and codes must have been
  /// made for it (SchemeContext). With float32 nothing is rounded.
  MessageType message_type = MessageType::kFloat32;
  /// Injected response times: an answer is held back until `delay(round + dispatch, worker)
  /// .at(load)` after its order was sent, or after the worker was done with an older order, if that
  /// is later. A worker whose real computing takes longer answers when it is done. nullptr: no
  /// injection. Asked from the calling thread.
  const DelaySource* delays = nullptr;
  /// Threads that compute for the workers, earliest injected answer first, so that few cores stand
  /// in for many machines; never more than workers. 0: as many as the machine has cores.
  int compute_slots = 0;
  /// Compare every decoded gradient with the directly computed one, while slots would be idle.
  bool verify = false;
  /// Called from the calling thread, may be empty. What it throws reaches the caller of run_local.
  std::function<void(const RoundReport&)> observer;
  /// Told what the master was busy with; called from the calling thread, may be empty.
  std::function<void(const MasterWork&)> on_work;
  /// Set by a signal handler; ends the run within 50 ms plus one micro-batch. May be nullptr.
  const std::atomic<bool>* interrupted = nullptr;
  RunCheckpoints checkpoints;
  std::vector<Fault> faults;  ///< to be played
  /// Told what is done to workers on purpose, and of answers that are discarded. May be empty.
  std::function<void(const FaultReport&)> on_fault;
};

struct LocalRunResult {
  Seconds total{0};   ///< from the start to the last decoded job, without pending verification
  int rounds = 0;     ///< rounds in which somebody worked
  int jobs = 0;       ///< decoded
  int wait_outs = 0;  ///< rounds whose close policy waited past its cutoff
  double mean_stragglers = 0;     ///< per round
  double worst_verify_error = 0;  ///< largest |decoded - direct| / |direct|; 0 if not verified
  int verified = 0;               ///< gradients compared
  /// Answers (given, or owed when they were stopped) that computing made later than injected by
  /// more than 5 % of their response time: too few cores for these delays.
  int overruns = 0;
  int injected = 0;            ///< faults that were played
  int discarded = 0;           ///< answers that were damaged or not finite
  int asked_again = 0;         ///< orders that were sent once more since nobody else could help
  long long messages = 0;      ///< received
  double bytes_per_round = 0;  ///< payload bytes received per round, mean
};

/// Runs `coordinator` to its end. All threads have ended when it returns or throws.
///
/// @param bank     models and optimizers; changed
/// @param sources  one per model; cloned per compute slot before the run, then unused
/// @param sampler  asked from the calling thread, once per job (twice if verified)
/// @return an error of code kInvalid (an option), kFailed (the first error of a worker: "worker 3,
/// job 7: ...", a message that is used and not finite, why the coordinator gave up) or kInterrupted
Expected<LocalRunResult> run_local(Coordinator& coordinator,
                                   ModelBank& bank,
                                   const std::vector<std::unique_ptr<GradientSource>>& sources,
                                   const BatchSampler& sampler,
                                   const LocalRunOptions& options);

}  // namespace paceline
