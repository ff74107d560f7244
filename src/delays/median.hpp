#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace paceline {

/// The upper one of the two in the middle. @pre values is not empty
inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace paceline
