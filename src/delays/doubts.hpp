// What is allowed in a profile but looks wrong.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"

namespace paceline {

/// Whether one time is about 1000 times, or a thousandth of, another one.
bool like_another_unit(double ratio);

/// A line each about: times that look like milliseconds, all of them, those of one column or single
/// ones; times that are all the same.
std::vector<std::string> doubts_about(const DelayProfile& profile, const std::string& name);

}  // namespace paceline
