// Rounds played at once by a scheme that looks at times: what the scheme must know, and what it
// says.
//
// With stateless workers and a policy that closes a round at the first moment when it may close,
// the response times say how a round goes before it begins, rescue copies and late answers
// included. So a simulation that needs no messages can leave out orders and events.
#pragma once

#include <optional>
#include <span>

#include "paceline/ids.hpp"

namespace paceline {

/// How long orders take.
class ResponseTimes {
 public:
  virtual ~ResponseTimes() = default;

  struct Response {
    double takes = 0;    ///< seconds until the answer; infinite: it never comes
    double compute = 0;  ///< the part of it spent on computing
  };

  /// An order of this load that meets the luck of `round`.
  virtual Response of(Round round, WorkerId worker, double load) const = 0;

  /// One order for every worker.
  /// @param loads    shape (n); negative: no order
  /// @param takes    shape (n), seconds, overwritten; anything where there is no order
  /// @param compute  shape (n), seconds, overwritten; likewise
  virtual void of_all(Round round,
                      std::span<const double> loads,
                      std::span<double> takes,
                      std::span<double> compute) const = 0;
};

/// A game of its own, played round by round.
class WholeRounds {
 public:
  virtual ~WholeRounds() = default;

  struct Outcome {
    Seconds ended{0};
    bool closed = true;    ///< false: late answers completed the last job while the round ran
    bool at_once = false;  ///< the round closed as it opened, without an answer
    int complete = 0;      ///< workers that have answered everything
    int stragglers = 0;    ///< workers that have not
    int decoded = 0;       ///< jobs decoded since the game began
  };

  /// Plays the next round. @return nothing if it never ends, or must be played event by event
  virtual std::optional<Outcome> play(Seconds opened) = 0;
};

}  // namespace paceline
