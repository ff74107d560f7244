// Groups of workers whose chunks lie side by side once around the ring: a group that has answered
// completely has the whole gradient, as a plain sum.
#pragma once

#include <vector>

#include "paceline/worker_set.hpp"

namespace paceline {

/// Disjoint groups for the shares of holders_around_the_ring(), each of which holds every chunk
/// exactly once. Found one after the other, of those left the one of fewest workers: there may be
/// choices with more groups.
/// @param held  shape (n), sum a multiple of `chunks`
/// @return workers of each group, ascending
std::vector<std::vector<int>> groups_around_the_ring(const std::vector<int>& held, int chunks);

/// The first group that has answered completely; null if none has.
const std::vector<int>* complete_group(const std::vector<std::vector<int>>& groups,
                                       const WorkerSet& answered);

}  // namespace paceline
