// Fit of a mixture of two log-normal models on one base: usual times and a tail of their own.
#pragma once

#include <vector>

#include "delays/fit_shifted.hpp"

namespace paceline {

/// Maximum likelihood. @param sorted  ascending, > 0, not all equal
FittedDistribution fit_lognormal_mixture(const std::vector<double>& sorted);

}  // namespace paceline
