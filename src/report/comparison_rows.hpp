// The rows of a comparison as both of its forms show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/compare.hpp"

namespace paceline {

/// By jobs per round, then the fastest first.
std::vector<const ComparedScheme*> ordered_rows(const Comparison& comparison);

/// The row's mean time over that of the fastest relay that starts as many jobs per round; nothing
/// where there is none.
std::optional<double> ratio_to_relay(const Comparison& comparison, const ComparedScheme& row);

/// Where the settings of tuned schemes come from: "chosen on ...".
std::string tuned_note(const Comparison& comparison);

}  // namespace paceline
