// GF(p^e) is the polynomials over Z_p modulo one of degree e. A polynomial is right if the powers
// of X (for e = 1: of a number) run through all q-1 elements before they repeat, so polynomials are
// tried until one does; that makes the two tables as well.
#include "codes/finite_field.hpp"

#include "paceline/check.hpp"

namespace paceline {

PrimePower prime_power(int q) {
  for (int p = 2; p <= q; ++p) {
    if (q % p != 0) continue;
    int exponent = 0;
    for (; q % p == 0; q /= p) ++exponent;
    return q == 1 ? PrimePower{p, exponent} : PrimePower{};
  }
  return {};
}

FiniteField::FiniteField(int q) : q_(q) {
  const PrimePower power = prime_power(q);
  PACELINE_CHECK(power.prime > 0 && q <= 1 << 20);
  p_ = power.prime;
  e_ = power.exponent;
  std::vector<int> low(static_cast<std::size_t>(e_), 0);  // X^e = sum of low[d] X^d
  do {
    std::size_t digit = 0;  // the next polynomial
    while (++low[digit] == p_) low[digit++] = 0;
  } while (!fill_powers(low));
}

bool FiniteField::fill_powers(const std::vector<int>& low) {
  powers_.assign(static_cast<std::size_t>(q_ - 1), 0);
  logarithm_.assign(static_cast<std::size_t>(q_), -1);
  std::vector<int> digits(low.size(), 0);
  digits[0] = 1;
  for (int i = 0; i < q_ - 1; ++i) {
    int element = 0;
    for (std::size_t d = digits.size(); d-- > 0;) element = element * p_ + digits[d];
    if (element == 0 || logarithm_[static_cast<std::size_t>(element)] >= 0) return false;
    powers_[static_cast<std::size_t>(i)] = element;
    logarithm_[static_cast<std::size_t>(element)] = i;
    const int top = digits.back();
    for (std::size_t d = digits.size() - 1; d > 0; --d) {
      digits[d] = (digits[d - 1] + top * low[d]) % p_;
    }
    digits[0] = top * low[0] % p_;
  }
  return true;
}

int FiniteField::add(int x, int y) const {
  int sum = 0;
  for (int place = 1; place < q_; place *= p_) {
    sum += (x / place % p_ + y / place % p_) % p_ * place;
  }
  return sum;
}

int FiniteField::multiply(int x, int y) const {
  if (x == 0 || y == 0) return 0;
  return power(logarithm_[static_cast<std::size_t>(x)] + logarithm_[static_cast<std::size_t>(y)]);
}

}  // namespace paceline
