// The measurement behind measure_quality, for any choice of straggler sets.
#pragma once

#include <vector>

#include "codes/straggler_sets.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {

/// Decodes every set of the sample; a set that the code refuses counts as infinite amplification.
/// The 95th percentile is taken over the typical sets and over the neighbours, and the larger one
/// counts: neighbours straggle together more often than chance has it.
CodeQuality quality_on(const GradientCode& code, const StragglerSample& sample);

/// The smallest value that a fraction `share` of the values do not exceed. @pre values not empty
double percentile(std::vector<double> values, double share);

}  // namespace paceline
