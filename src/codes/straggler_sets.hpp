// Straggler sets to try a code on.
#pragma once

#include <cstdint>
#include <vector>

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

/// What a code is tried on.
struct StragglerSample {
  std::vector<WorkerSet> typical;   ///< all sets where they are few, else random ones
  std::vector<WorkerSet> together;  ///< sets of neighbours, unless typical has them all
};

/// All sets of size s if there are at most 1000, else `random` of them and those of neighbours.
StragglerSample sample_survivors(int workers, int stragglers, int random);

}  // namespace paceline
