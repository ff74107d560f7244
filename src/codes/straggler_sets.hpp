// Straggler sets to try a code on, and what it does with them.
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/gradient_code.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// C(n, s), or `most` + 1 where it is larger than that.
std::int64_t count_sets(int workers, int stragglers, std::int64_t most);

/// The survivors of every straggler set of size s.
std::vector<WorkerSet> all_survivors(int workers, int stragglers);

/// The survivors of `count` straggler sets of size s, the same at every call.
std::vector<WorkerSet> random_survivors(int workers, int stragglers, int count);

/// The survivors when s neighbours straggle: stragglers i, ..., i+s-1 (modulo n) for every i.
std::vector<WorkerSet> neighbour_survivors(int workers, int stragglers);

/// A(S) for each set; infinity where the code does not decode.
std::vector<double> amplifications(const GradientCode& code, const std::vector<WorkerSet>& sets);

/// The smallest value that a fraction `share` of the values do not exceed. @pre values not empty
double percentile(std::vector<double> values, double share);

}  // namespace paceline
