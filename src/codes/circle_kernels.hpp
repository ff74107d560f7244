// The two loops that decode a code on the n-th roots of unity: products over the stragglers, and
// what the weights add up to in every window of the circle. Complex numbers are split into real and
// imaginary arrays, and arrays go round the circle twice where a window may cross its end, so that
// both are plain loops over consecutive numbers.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace paceline {

struct SplitComplex {
  std::vector<double> re;
  std::vector<double> im;

  SplitComplex() = default;

  SplitComplex(std::size_t size, std::complex<double> value)
      : re(size, value.real()), im(size, value.imag()) {}

  std::size_t size() const { return re.size(); }

  std::complex<double> operator[](std::size_t i) const { return {re[i], im[i]}; }

  void set(std::size_t i, std::complex<double> value) {
    re[i] = value.real();
    im[i] = value.imag();
  }
};

/// a[i] *= product over l in `stragglers` of factor[(i - l) mod n], shape (n).
/// @param factor  shape (2n): twice round
void multiply_factors(const SplitComplex& factor, std::span<const int> stragglers, SplitComplex& a);

/// The windows of s+1 neighbours: sum[w] = sum_t column[t] a[(w - s + t) mod n], and the same with
/// magnitudes; shape (n).
struct WindowSums {
  SplitComplex sum;
  std::vector<double> magnitude;
};

WindowSums window_sums(const SplitComplex& a, std::span<const std::complex<double>> column);

}  // namespace paceline
