// Wall time: the steady clock, and the seconds since the start of a run that the coordinator sees.
#pragma once

#include <algorithm>
#include <chrono>

#include "paceline/ids.hpp"

namespace paceline {

using SteadyTime = std::chrono::steady_clock::time_point;

inline constexpr SteadyTime kNoDeadline = SteadyTime::max();

/// `from` plus `wait`; waits of more than thirty years count as thirty years, so that no sum
/// overflows.
inline SteadyTime after(SteadyTime from, Seconds wait) {
  constexpr Seconds kLongest{1e9};
  return from + std::chrono::duration_cast<SteadyTime::duration>(std::min(wait, kLongest));
}

class RunClock {
 public:
  /// @param begin  what the clock shows now
  explicit RunClock(Seconds begin = Seconds{0})
      : start_(after(std::chrono::steady_clock::now(), -begin)) {}

  /// Seconds since the start of the run.
  Seconds now() const { return std::chrono::steady_clock::now() - start_; }

  SteadyTime at(Seconds time) const { return after(start_, time); }

 private:
  SteadyTime start_;
};

}  // namespace paceline
