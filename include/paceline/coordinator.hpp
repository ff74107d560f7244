// A coordinator is what a driver drives: events in, actions out. It is pure; `now` is an argument.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "paceline/ids.hpp"
#include "paceline/message.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

/// One message to make, with the parameters to use.
struct Task {
  MessageId id;
  JobId job;
  ModelId model;
  Version reads;  ///< parameters to use
  Row row;        ///< empty: answer without a gradient (costs `load` in a simulation only)
  double load = 0;
};

/// Work for one worker. A second order of the same round (more of a list that is answered one by
/// one, or a rescue copy) has dispatch 1, and so on.
struct Order {
  WorkerId worker;
  Round round;
  int dispatch = 0;
  std::vector<Task> tasks;  ///< in this order
  /// How long ago the worker was first asked: more than 0 where a run goes on from a checkpoint, so
  /// that injected times go on, too.
  Seconds age{0};
  Seconds waited{0};  ///< the part of its age for which it lay behind older orders of its worker
  /// Set in an order that goes on with the list of the order before it, and takes what the longer
  /// list takes more: the load of the list up to here.
  std::optional<double> ahead = {};

  double load() const;

  /// The round whose delay it has: the orders of one list share theirs, a second copy within a
  /// round meets other luck than the first.
  Round drawn() const { return ahead ? round : Round{round.value + dispatch}; }
};

/// The header of an answer; its payloads stay in the driver under their MessageIds.
struct Result {
  WorkerId worker;
  Round round;
  int dispatch = 0;
  Seconds compute{0};  ///< time the worker spent on computing
  Seconds waited{0};   ///< time the order lay behind older ones (not those of its own list) before
                       ///< the worker turned to it

  bool operator==(const Result&) const = default;
};

// ---- events ----
struct Arrived {  ///< all tasks of an order have been answered
  Result result;
};

struct TimerFired {
  int timer = 0;
};

using Event = std::variant<Arrived, TimerFired>;

// ---- actions ----
struct Send {
  Order order;
};

struct Stop {  ///< the worker may throw away what it has of this round; the driver delivers nothing
               ///< of it any more
  WorkerId worker;
  Round round;
};

struct Arm {  ///< fires once, at `at`; a timer that is no longer wanted is ignored when it fires
  int timer = 0;
  Seconds at{0};
};

struct Apply {  ///< adds messages to the running gradient of a job and, if complete, makes the
                ///< model's next version
  JobId job;
  ModelId model;
  Version makes;  ///< version that exists once a complete sum has been applied
  Decoding sum;
};

struct Drop {  ///< these messages are not needed any more
  std::vector<MessageId> messages;
};

struct RoundRecord {  ///< for observers; both drivers pass it on unchanged
  Round round;
  Seconds opened{0};
  Seconds closed{0};
  int busy = 0;             ///< workers with work in this round
  WorkerSet stragglers{0};  ///< those of them that had not answered everything when it closed
  Answers answers;  ///< times relative to `opened`; kNever for stragglers that had answered nothing
  std::vector<JobId> started;
  std::vector<JobId> decoded;  ///< since the record before: late answers may decode, too
  bool waited_out =
      false;  ///< the close policy waited past its cutoff because the round could not close
};

struct Finish {
  std::string why;  ///< empty: all jobs are decoded; else the reason for giving up
};

using Action = std::variant<Send, Stop, Arm, Apply, Drop, RoundRecord, Finish>;
using Actions = std::vector<Action>;

/// Within a call it observes, then updates, then dispatches, so the worker whose answer triggers an
/// update reads the new version. A driver carries the actions out in order. At equal times it feeds
/// results before timers, results by worker.
class Coordinator {
 public:
  virtual ~Coordinator() = default;
  virtual Actions start(Seconds now) = 0;
  virtual Actions on(const Event& event, Seconds now) = 0;

  /// Does a small piece of work that can wait, for a driver that has nothing else to do; it makes
  /// no actions. @return whether more is left
  virtual bool study() { return false; }

  /// From now on jobs in flight are finished and no others started; then the coordinator ends.
  /// After start() only. @return how many jobs it will have delivered; 0 from one that delivers
  /// none
  virtual int start_no_more_jobs() { return 0; }

  virtual std::unique_ptr<Coordinator> clone() const = 0;

 protected:
  Coordinator() = default;
  Coordinator(const Coordinator&) = default;
  Coordinator& operator=(const Coordinator&) = default;
};

}  // namespace paceline
