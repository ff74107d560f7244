// What is allowed in a profile but looks wrong.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"

namespace paceline {

/// A line each about: times that look like milliseconds, all of them, those of one column or single
/// ones; times that are all the same.
std::vector<std::string> doubts_about(const DelayProfile& profile, const std::string& name);

}  // namespace paceline
