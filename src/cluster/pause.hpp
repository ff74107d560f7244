// How long to wait for something that only polling shows: not at all at first, so that a quick
// answer costs no sleep, then longer and longer, so that a slow one costs no processor; but never
// more than a share of the time waited so far, so that it is noticed soon after it has come. Giving
// way to others instead (sched_yield) would cost a time slice of every process that competes.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/clock.hpp"

namespace paceline {

class Pause {
 public:
  /// Something has come: be quick again.
  void reset() { looks_ = 0; }

  /// How long to sleep before the next look, not beyond `deadline`; at first zero.
  /// @param moving  large messages are on their way, which looking moves on
  SteadyTime::duration next(SteadyTime now, SteadyTime deadline, bool moving = false) {
    if (looks_ == 0) since_ = now;
    if (++looks_ <= kQuickLooks) return {};
    const SteadyTime::duration share = (now - since_) / kShare;
    const SteadyTime::duration sleep =
        moving ? kShortest : std::clamp<SteadyTime::duration>(share, kShortest, kLongest);
    return std::clamp(deadline - now, SteadyTime::duration{0}, sleep);
  }

 private:
  static constexpr int kQuickLooks = 10;
  static constexpr int kShare = 8;  // of the time waited so far: so much later it may be noticed
  static constexpr std::chrono::microseconds kShortest{20};
  static constexpr std::chrono::microseconds kLongest{640};

  int looks_ = 0;
  SteadyTime since_;  ///< of the first look
};

}  // namespace paceline
