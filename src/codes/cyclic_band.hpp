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

/// Checks a decode vector against `count` columns, in O(count s).
///
/// @param a       shape (n), double or std::complex<double>
/// @param place   column m is a band on the workers place(m)-s, ..., place(m) (modulo n)
/// @param column  column(m) points to its s+1 entries in that order
template <class Scalar, class Place, class Column>
BandCheck check_bands(const std::vector<Scalar>& a,
                      int stragglers,
                      int count,
                      const Place& place,
                      const Column& column) {
  const int n = static_cast<int>(a.size());
  BandCheck check;
  for (int m = 0; m < count; ++m) {
    const Scalar* weights = column(m);
    Scalar sum = 0;
    double magnitude = 0;
    for (int t = 0; t <= stragglers; ++t) {
      const Scalar product = a[band_worker(n, stragglers, place(m), t)] * weights[t];
      sum += product;
      magnitude += std::sqrt(std::norm(product));  // hypot's care costs more than all the rest
    }
    check.residual += std::norm(sum - 1.0) / count;
    check.amplification = std::max(check.amplification, magnitude);
  }
  return check;
}

/// The same for the n columns of a cyclic code, column j on the workers j-s, ..., j.
template <class Scalar, class Column>
BandCheck check_band(const std::vector<Scalar>& a, int stragglers, const Column& column) {
  const auto place = [](int j) { return j; };
  return check_bands(a, stragglers, static_cast<int>(a.size()), place, column);
}

}  // namespace paceline
