#include "paceline/chunks.hpp"

#include <algorithm>
#include <cmath>

#include "paceline/check.hpp"

namespace paceline {

std::vector<int> chunk_borders(int samples, std::span<const double> sizes) {
  PACELINE_CHECK(samples >= 0 && !sizes.empty());
  std::vector<int> border(sizes.size() + 1, 0);
  double before = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    PACELINE_CHECK(sizes[j] >= 0);
    before += sizes[j];
    // The tolerance sends halves down whatever the error of the sum; the limit matters where the
    // sum is a little over 1 and the last chunks are empty.
    const double rounded = std::floor(before * samples + 0.5 - 1e-9);
    border[j + 1] = static_cast<int>(std::min<double>(samples, rounded));
  }
  PACELINE_CHECK(std::abs(before - 1) < 1e-9);
  border.back() = samples;
  return border;
}

}  // namespace paceline
