// Fewer times with the same distribution, to search on.
#pragma once

#include <cstddef>
#include <vector>

namespace paceline {

/// At most `most` evenly spaced order statistics, the first and the last among them. @pre most >= 2
inline std::vector<double> thinned(const std::vector<double>& sorted, std::size_t most) {
  if (sorted.size() <= most) return sorted;
  std::vector<double> some;
  for (std::size_t k = 0; k < most; ++k) {
    some.push_back(sorted[k * (sorted.size() - 1) / (most - 1)]);
  }
  return some;
}

}  // namespace paceline
