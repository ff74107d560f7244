// How long to wait for something that only polling shows: not at all at first, so that a quick
// answer costs no sleep, then longer and longer, so that a slow one costs no processor. Giving way
// to others instead (sched_yield) would cost a time slice of every process that competes.
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
    using std::chrono::microseconds;
    if (++looks_ <= kQuickLooks) return {};
    const int doublings = std::min(looks_ - kQuickLooks - 1, moving ? 0 : kMostDoublings);
    const SteadyTime::duration sleep = microseconds(kShortest << doublings);
    return std::clamp(deadline - now, SteadyTime::duration{0}, sleep);
  }

 private:
  static constexpr int kQuickLooks = 10;
  static constexpr int kShortest = 20;      // microseconds
  static constexpr int kMostDoublings = 5;  // 0.64 ms

  int looks_ = 0;
};

}  // namespace paceline
