// Finds profiles that hold failed calls: times too short to be answers.
//
// A failed call comes back early, and nothing in one table tells it from a fast worker. A run
// measured at several loads does: response time = base + slope * load, so the medians at greater
// loads predict the median here. Over fourteen good measured profiles that prediction was off by at
// most 15 %, over two known bad ones by a factor of 46 and 97. We refuse below a quarter.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"
#include "paceline/expected.hpp"

namespace paceline {

/// Files in the same folder whose names differ from `path` only in the number of "load<number>.csv"
/// at its end, sorted. Empty if the name has no such end.
std::vector<std::string> profiles_of_the_same_run(const std::string& path);

/// An error if the median of `profile` is below a quarter of what the line through the medians of
/// its siblings predicts. Siblings count that were measured at greater loads; fewer than two
/// different such loads say nothing.
Expected<void> check_calls_succeeded(const DelayProfile& profile,
                                     const std::string& name,
                                     std::span<const DelayProfile> siblings);

}  // namespace paceline
