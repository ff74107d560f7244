// The inside of the heterogeneity-aware code: who holds what.
#pragma once

#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

/// How many of k chunks each worker holds: k (s+1) c_i / sum c, rounded down, and the ones missing
/// to k (s+1) given one by one to the worker that would finish them first. Refuses a worker that
/// would need more than all chunks. @param speeds  c, shape (n), chunks per second, > 0
Expected<std::vector<int>> chunks_by_speed(const std::vector<double>& speeds,
                                           int chunks,
                                           int stragglers);

/// The holders of each chunk, shape (k, s+1): the workers' shares end to end around the ring of
/// chunks. @param held  shape (n), sum k (s+1), each at most k
std::vector<std::vector<int>> holders_around_the_ring(const std::vector<int>& held, int chunks);

}  // namespace paceline
