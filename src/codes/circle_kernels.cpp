#include "codes/circle_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "paceline/simd.hpp"

namespace paceline {
namespace {

PACELINE_SIMD void multiply(
    const double* factor_re, const double* factor_im, double* re, double* im, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = re[i] * factor_re[i] - im[i] * factor_im[i];
    im[i] = re[i] * factor_im[i] + im[i] * factor_re[i];
    re[i] = x;
  }
}

PACELINE_SIMD void add_scaled(double weight_re,
                              double weight_im,
                              const double* a_re,
                              const double* a_im,
                              double* re,
                              double* im,
                              std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    re[i] += weight_re * a_re[i] - weight_im * a_im[i];
    im[i] += weight_re * a_im[i] + weight_im * a_re[i];
  }
}

PACELINE_SIMD void add_sizes(double weight, const double* values, double* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += weight * values[i];
}

/// `values`, and its beginning once more.
std::vector<double> twice_round(const std::vector<double>& values) {
  std::vector<double> twice(values);
  twice.insert(twice.end(), values.begin(), values.end());
  return twice;
}

}  // namespace

void multiply_factors(const SplitComplex& factor,
                      std::span<const int> stragglers,
                      SplitComplex& a) {
  const std::size_t n = a.size();
  for (const int l : stragglers) {
    const std::size_t from = n - static_cast<std::size_t>(l);
    multiply(factor.re.data() + from, factor.im.data() + from, a.re.data(), a.im.data(), n);
  }
}

WindowSums window_sums(const SplitComplex& a, std::span<const std::complex<double>> column) {
  const std::size_t n = a.size();
  const std::size_t s = column.size() - 1;
  std::vector<double> size(n);
  for (std::size_t i = 0; i < n; ++i) size[i] = std::sqrt(std::norm(a[i]));
  const std::vector<double> re = twice_round(a.re);
  const std::vector<double> im = twice_round(a.im);
  size = twice_round(size);

  WindowSums sums{{n, 0.0}, std::vector<double>(n, 0.0)};
  for (std::size_t t = 0; t <= s; ++t) {
    const std::size_t from = n - s + t;
    const std::size_t first = from % n;
    add_scaled(column[t].real(),
               column[t].imag(),
               re.data() + first,
               im.data() + first,
               sums.sum.re.data(),
               sums.sum.im.data(),
               n);
    add_sizes(std::abs(column[t]), size.data() + first, sums.magnitude.data(), n);
  }
  return sums;
}

}  // namespace paceline
