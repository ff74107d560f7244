// What the cyclic codes share: worker i holds chunks i, i+1, ..., i+s (modulo n), so column j of G
// is a band of s+1 weights on the workers j-s, ..., j.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace paceline {

/// The worker that holds entry t of column j, t = 0 ... s.
inline std::size_t band_worker(int workers, int stragglers, int column, int t) {
  return static_cast<std::size_t>((column - stragglers + t + workers) % workers);
}

struct BandCheck {
  double residual = 0;       ///< |a G - 1|^2 / n
  double amplification = 0;  ///< max_j sum_i |a_i| |G_ij|
};

/// Checks a decode vector against the n columns, in O(n s).
///
/// @param a       shape (n)
/// @param column  column(j) points to the s+1 entries on the workers j-s, ..., j (modulo n)
template <class Column>
BandCheck check_band(const std::vector<double>& a, int stragglers, const Column& column) {
  const int n = static_cast<int>(a.size());
  BandCheck check;
  for (int j = 0; j < n; ++j) {
    const double* weights = column(j);
    double sum = 0;
    double magnitude = 0;
    for (int t = 0; t <= stragglers; ++t) {
      const double product = a[band_worker(n, stragglers, j, t)] * weights[t];
      sum += product;
      magnitude += std::abs(product);
    }
    check.residual += (sum - 1) * (sum - 1) / n;
    check.amplification = std::max(check.amplification, magnitude);
  }
  return check;
}

}  // namespace paceline
