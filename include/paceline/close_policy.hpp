// When a round that may close does close.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

/// What a close policy sees of the running round.
struct RoundView {
  Seconds opened{0};
  Seconds now{0};
  int busy = 0;              ///< workers with work in this round
  int complete = 0;          ///< of these, how many have answered all of it
  Seconds fastest = kNever;  ///< least response time of a complete worker, since `opened`
  const Scheme* scheme = nullptr;
  Round round;
  const Answers* answers = nullptr;

  /// What the scheme says about the answers so far. Costs O(n) or more: ask only when it matters.
  bool may_close() const { return scheme->may_close(round, *answers); }
};

/// A policy in words that a simulation can act on without asking it at every answer: it first asks
/// whether the round may close when a fraction `quantile` of the busy workers has answered, or,
/// with a tolerance mu >= 0, at (1+mu) times the fastest answer. If the round may not close then,
/// it asks again at every answer, or waits for all.
struct Patience {
  double quantile = 0;
  double tolerance = -1;  ///< mu; negative: none
  bool then_wait_for_all = false;

  bool has_tolerance() const { return tolerance >= 0; }

  /// Closes at the first moment when the round may close.
  bool is_eager() const { return !has_tolerance() && quantile == 0; }

  /// How many of the busy workers the quantile asks for.
  int answers_needed(int busy) const;
};

class ClosePolicy {
 public:
  virtual ~ClosePolicy() = default;

  /// A round opens.
  virtual void open() {}

  /// <= now: close; later: ask again then (or at the next answer); kNever: ask at the next answer.
  virtual Seconds close_at(const RoundView& view) = 0;

  /// Whether the current round waited past the cutoff because it could not close there.
  virtual bool waited_out() const { return false; }

  /// The same policy as a Patience, if that says all of it.
  virtual std::optional<Patience> patience() const { return std::nullopt; }

  /// The reading of may_close this policy goes with, unless the user chooses another.
  virtual CloseRule rule() const = 0;
  virtual std::unique_ptr<ClosePolicy> clone() const = 0;

 protected:
  ClosePolicy() = default;
  ClosePolicy(const ClosePolicy&) = default;
  ClosePolicy& operator=(const ClosePolicy&) = default;
};

/// "published:mu=1", "conforming:mu=1", "eager", "quantile:q=0.9"; any of them with
/// ",rule=decodable|model|published".
///   published   wait (1+mu) times the fastest answer; if the round cannot close then, wait for all
///   conforming  as above, but wait only until it can close
///   eager       close at the first moment when it can
///   quantile    eager, but not before a fraction q of the busy workers answered
Expected<std::unique_ptr<ClosePolicy>> make_close_policy(std::string_view text);

}  // namespace paceline
