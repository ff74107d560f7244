// The rows of a comparison as both of its forms show them.
#pragma once

#include <string>
#include <vector>

#include "paceline/compare.hpp"

namespace paceline {

/// By jobs per round, then the fastest first.
std::vector<const ComparedScheme*> ordered_rows(const Comparison& comparison);

/// Where the settings of tuned schemes come from: "chosen on ...".
std::string tuned_note(const Comparison& comparison);

}  // namespace paceline
