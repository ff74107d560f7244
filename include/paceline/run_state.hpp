// Everything that a live run needs to go on later, in another process.
//
// A coordinator is pure: what it is follows from what it was made of and from the events that it
// was fed, with their times. So its state, and that of whatever scheme it plays, is kept as the
// list of these events, and no scheme has to know how to be saved. Payloads are the model bank's.
// Workers hold nothing: orders that nobody had answered are sent again.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/ids.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

/// What the coordinator was told.
struct LoggedEvent {
  enum class Kind { kStart, kArrived, kTimer };

  Kind kind = Kind::kStart;
  Seconds now{0};
  Result result = {};  ///< of kArrived
  int timer = 0;       ///< of kTimer
  int studied = 0;     ///< calls of study() since the event before

  bool operator==(const LoggedEvent&) const = default;
};

/// Sums over the rounds so far, for the result of a run.
struct RunTotals {
  Seconds total{0};  ///< from the start to the last decoded job
  int rounds = 0;    ///< in which somebody worked
  int jobs = 0;      ///< decoded
  int wait_outs = 0;
  long long stragglers = 0;
  long long messages = 0;  ///< received
  double bytes = 0;        ///< of their payloads
};

/// A run between two events of its coordinator.
struct RunState {
  Seconds now{0};
  std::vector<Version> begun;  ///< updates of each model when the first event came
  std::vector<LoggedEvent> events;
  int studied = 0;  ///< calls of study() since the last event
  RunTotals totals;
  BankState bank;
  bool finished = false;  ///< all jobs are decoded
};

/// When states are taken, and where a run goes on from.
struct RunCheckpoints {
  /// Asked each time when a round has closed, what it decoded is applied, and the orders of the
  /// next one are out; `jobs` are decoded so far.
  std::function<bool(int jobs)> due = {};
  /// Gets the state when it is due, when the run ends (well, by an interruption, or because workers
  /// failed), always from the calling thread. Empty: no states are taken, and no events are kept.
  std::function<void(RunState state)> take = {};
  /// Go on from here with the coordinator, made anew from the same parts. nullptr: from the start.
  const RunState* resume = nullptr;
  /// Set by a signal handler: the run ends as if interrupted when the running round has closed, or
  /// after kLeaveLimit. May be nullptr.
  const std::atomic<bool>* leaving = nullptr;
};

/// A round that does not close within this time after `leaving` was set is left in the middle.
inline constexpr Seconds kLeaveLimit{15};

}  // namespace paceline
