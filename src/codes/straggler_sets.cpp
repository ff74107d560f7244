#include "codes/straggler_sets.hpp"

#include <algorithm>
#include <numeric>

#include "paceline/random.hpp"

namespace paceline {
namespace {

WorkerSet survivors_of(int workers, const std::vector<int>& stragglers) {
  WorkerSet survivors = WorkerSet::all(workers);
  for (const int straggler : stragglers) survivors.erase(WorkerId{straggler});
  return survivors;
}

}  // namespace

std::int64_t count_sets(int workers, int stragglers, std::int64_t most) {
  const int smaller = std::min(stragglers, workers - stragglers);
  std::int64_t count = 1;
  for (int i = 1; i <= smaller; ++i) {
    count = count * (workers - smaller + i) / i;  // exact: a product of i neighbours
    if (count > most) return most + 1;
  }
  return count;
}

std::vector<WorkerSet> all_survivors(int workers, int stragglers) {
  std::vector<WorkerSet> sets;
  std::vector<int> chosen(static_cast<std::size_t>(stragglers));
  std::iota(chosen.begin(), chosen.end(), 0);
  for (;;) {
    sets.push_back(survivors_of(workers, chosen));
    int place = stragglers - 1;  // the last entry that can still move up
    while (place >= 0 && chosen[static_cast<std::size_t>(place)] == workers - stragglers + place) {
      --place;
    }
    if (place < 0) return sets;
    std::iota(chosen.begin() + place, chosen.end(), chosen[static_cast<std::size_t>(place)] + 1);
  }
}

std::vector<WorkerSet> random_survivors(int workers, int stragglers, int count) {
  RandomStream random(0, "straggler sets");
  std::vector<WorkerSet> sets;
  for (int i = 0; i < count; ++i) {
    std::vector<int> order = random.permutation(workers);
    order.resize(static_cast<std::size_t>(stragglers));
    sets.push_back(survivors_of(workers, order));
  }
  return sets;
}

std::vector<WorkerSet> neighbour_survivors(int workers, int stragglers) {
  std::vector<WorkerSet> sets;
  std::vector<int> chosen(static_cast<std::size_t>(stragglers));
  for (int first = 0; first < workers; ++first) {
    for (int i = 0; i < stragglers; ++i) {
      chosen[static_cast<std::size_t>(i)] = (first + i) % workers;
    }
    sets.push_back(survivors_of(workers, chosen));
  }
  return sets;
}

StragglerSample sample_survivors(int workers, int stragglers, int random) {
  constexpr std::int64_t kFew = 1000;
  if (count_sets(workers, stragglers, kFew) <= kFew) {
    return {all_survivors(workers, stragglers), {}};
  }
  return {random_survivors(workers, stragglers, random), neighbour_survivors(workers, stragglers)};
}

}  // namespace paceline
