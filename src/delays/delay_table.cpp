#include "paceline/delay_table.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

/// places[i] = from[chosen[i]]
std::vector<std::size_t> select(const std::vector<std::size_t>& from,
                                const std::vector<int>& chosen) {
  PACELINE_CHECK(!chosen.empty());
  std::vector<std::size_t> places;
  places.reserve(chosen.size());
  for (const int index : chosen) {
    PACELINE_CHECK(index >= 0 && static_cast<std::size_t>(index) < from.size());
    places.push_back(from[static_cast<std::size_t>(index)]);
  }
  return places;
}

}  // namespace

DelayTable DelayTable::record(const DelaySource& source, int rounds) {
  PACELINE_CHECK(rounds >= 1 && source.workers() >= 1);
  const auto width = static_cast<std::size_t>(source.workers());
  std::vector<Delay> delays;
  delays.reserve(static_cast<std::size_t>(rounds) * width);
  DelayTable table;
  for (int r = 0; r < rounds; ++r) {
    table.rounds_.push_back(delays.size());
    for (int i = 0; i < source.workers(); ++i) {
      delays.push_back(source.delay(Round{r}, WorkerId{i}));
    }
  }
  table.workers_.resize(width);
  std::iota(table.workers_.begin(), table.workers_.end(), std::size_t{0});
  table.delays_ = std::make_shared<const std::vector<Delay>>(std::move(delays));
  return table;
}

DelayTable DelayTable::with_rounds(const std::vector<int>& rounds) const {
  DelayTable table = *this;
  table.rounds_ = select(rounds_, rounds);
  return table;
}

DelayTable DelayTable::with_workers(const std::vector<int>& workers) const {
  DelayTable table = *this;
  table.workers_ = select(workers_, workers);
  return table;
}

DelayTable DelayTable::with_slower_computing(double factor) const {
  PACELINE_CHECK(std::isfinite(factor) && factor >= 0);
  DelayTable table = *this;
  table.computing_ *= factor;
  return table;
}

}  // namespace paceline
