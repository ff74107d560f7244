// The finite field GF(q), q = p^e, by tables of powers of one generator.
#pragma once

#include <vector>

namespace paceline {

/// q as a power of a prime; {0, 0} if it is none.
struct PrimePower {
  int prime = 0;
  int exponent = 0;
};

PrimePower prime_power(int q);

/// Elements are 0 ... q-1: the base-p digits are the coefficients of a polynomial.
class FiniteField {
 public:
  /// @pre q is a power of a prime, q <= 2^20. Cost: O(q), times a few polynomials tried
  explicit FiniteField(int q);

  int size() const { return q_; }

  int add(int x, int y) const;
  int multiply(int x, int y) const;

  /// generator^i, i >= 0: runs through all elements but 0.
  int power(int i) const { return powers_[static_cast<std::size_t>(i % (q_ - 1))]; }

 private:
  bool fill_powers(const std::vector<int>& low);

  int p_ = 0;
  int e_ = 0;
  int q_ = 0;
  std::vector<int> powers_;     ///< shape (q-1)
  std::vector<int> logarithm_;  ///< shape (q); of 0 unused
};

}  // namespace paceline
