#include "paceline/rational.hpp"

#include <fmt/format.h>

#include <numeric>

#include "paceline/check.hpp"

namespace paceline {
namespace {

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  PACELINE_CHECK(!__builtin_mul_overflow(a, b, &result));
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  PACELINE_CHECK(!__builtin_add_overflow(a, b, &result));
  return result;
}

}  // namespace

Rational::Rational(std::int64_t over, std::int64_t under) : over_(over), under_(under) {
  PACELINE_CHECK(under != 0);
  const std::int64_t common = std::gcd(over, under) * (under < 0 ? -1 : 1);
  over_ /= common;
  under_ /= common;
}

std::string Rational::text() const {
  return under_ == 1 ? fmt::to_string(over_) : fmt::format("{}/{}", over_, under_);
}

Rational operator+(const Rational& a, const Rational& b) {
  const std::int64_t common = std::gcd(a.under_, b.under_);
  const std::int64_t left = product(a.over_, b.under_ / common);
  const std::int64_t right = product(b.over_, a.under_ / common);
  return {sum(left, right), product(a.under_, b.under_ / common)};
}

Rational operator*(const Rational& a, const Rational& b) {
  // Crosswise in lowest terms first, so that only results that do not fit overflow.
  const Rational x(a.over_, b.under_);
  const Rational y(b.over_, a.under_);
  return {product(x.over_, y.over_), product(x.under_, y.under_)};
}

Rational operator/(const Rational& a, const Rational& b) { return a * Rational(b.under_, b.over_); }

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  const std::int64_t common = std::gcd(a.under_, b.under_);
  return product(a.over_, b.under_ / common) <=> product(b.over_, a.under_ / common);
}

}  // namespace paceline
