// What every factory asks first: is there a code with these parameters at all?
#pragma once

#include <string>

#include "paceline/expected.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {

/// Refuses n < 1 and s outside 0 ... n-1, naming the nearest value that is allowed.
Expected<void> check_workers_and_stragglers(int workers, int stragglers);

/// The limit that an option asks for: 0 stands for promised_amplification(kFloat32). Refuses NaN
/// and limits below 1, which no code can meet since sum_i a_i G_ij = 1.
Expected<double> resolve_amplification_limit(double option);

/// What every family is at the ends: for s = 0 worker i sends chunk i as it is, for s = n-1 every
/// worker sends everything. @pre legal n; s = 0 or s = n-1
GradientCode plain_code(std::string name, int workers, int stragglers);

}  // namespace paceline
