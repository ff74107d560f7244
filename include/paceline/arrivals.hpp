// The answers of one round when all of their times are known beforehand, as simulations know them.
//
// What a round asks of them needs no sorted list: the first, the last, the k-th, how many came by
// then, and the first one that made some growing set large enough. Each costs O(n).
#pragma once

#include <compare>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "paceline/ids.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// A place in the order of a round's events: by time, at equal times by worker, timers last.
struct Moment {
  static constexpr int kTimer = std::numeric_limits<int>::max();  ///< as `worker`

  Seconds at{0};
  int worker = 0;  ///< whose answer comes then; kTimer: after all answers of that time

  auto operator<=>(const Moment&) const = default;
};

inline constexpr Moment kBeforeAnswers{-kNever, -1};
inline constexpr Moment kAfterAllTime{kNever, Moment::kTimer};  ///< never comes

struct KthLeast {
  double time = 0;
  int earlier = 0;  ///< how many are less
};

/// The k-th least of many times, k = 1 the least. @pre 1 <= k <= times.size()
/// @param scratch  overwritten; a used one saves allocations
/// Cost: O(n), vectorised: a sample leaves few times to look at
KthLeast kth_least(std::span<const double> times, int k, std::vector<double>& scratch);

class Arrivals {
 public:
  explicit Arrivals(int workers);

  int workers() const { return busy_.workers(); }

  /// Opens a round. Worker i answers at opened + took[i]; where loads[i] < 0 it has no work.
  /// @pre both of shape (n); took[i] >= 0, or infinite: never
  void open(Seconds opened, std::span<const double> loads, std::span<const double> took);

  /// Those with work.
  const WorkerSet& busy() const { return busy_; }

  int busy_count() const { return busy_count_; }

  /// Shape (n), seconds; infinite for workers that never answer or have no work.
  std::span<const double> times() const { return at_; }

  Moment moment(WorkerId worker) const { return {Seconds{at_[worker.index()]}, worker.value}; }

  /// The first answer; kAfterAllTime if there is none.
  Moment first() const;

  /// When the last busy worker answers; kBeforeAnswers if none is busy, kAfterAllTime if one of
  /// them never answers.
  Moment last() const;

  /// The k-th answer, k = 1 the first; kAfterAllTime if so many never come, kBeforeAnswers for
  /// k = 0. @pre 0 <= k <= n
  Moment nth(int k);

  /// How many have answered by then, that moment included.
  int count_by(Moment moment) const;

  /// The busy workers that have not. @param missing  overwritten; a set of n workers
  void missing_after(Moment moment, WorkerSet& missing) const;

  /// The first answer with which `enough(missing)` holds, where `missing` are the busy workers that
  /// have not answered by then; kBeforeAnswers if it holds without any, kAfterAllTime if it does
  /// not even when all have answered that ever do.
  /// @pre monotone: what is enough stays so with fewer missing
  /// Cost: O(n), plus O(log n) calls of `enough`, both on average
  Moment first_enough(const std::function<bool(const WorkerSet& missing)>& enough);

  /// The answers of the workers i = u (mod m), renumbered i div m, as a round of their own. Valid
  /// until the next call for the same u. @pre m divides n
  Arrivals& part(int u, int m);

  /// The same round where these workers never answer. Valid until the next call.
  Arrivals& without(const WorkerSet& workers);

  /// The moment of the whole that is `moment` of part(u, m).
  static Moment whole(Moment moment, int u, int m) {
    if (moment.worker >= 0 && moment.worker != Moment::kTimer) {
      moment.worker = moment.worker * m + u;
    }
    return moment;
  }

 private:
  std::vector<double> at_;
  WorkerSet busy_;
  int busy_count_ = 0;

  // scratch, kept so that a round allocates nothing
  WorkerSet missing_;
  std::vector<double> values_;
  std::vector<int> candidates_;
  std::vector<int> later_;
  std::vector<Arrivals> parts_;
  std::vector<Arrivals> without_;  ///< one, or none yet
};

}  // namespace paceline
