#include "paceline/rational.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "paceline/check.hpp"

namespace paceline {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Rational, IsInLowestTermsWithAPositiveDenominator) {
  EXPECT_EQ(Rational(6, -4).over(), -3);
  EXPECT_EQ(Rational(6, -4).under(), 2);
  EXPECT_EQ(Rational(0, 7), Rational(0));
  EXPECT_EQ(Rational(6, 4).text(), "3/2");
  EXPECT_EQ(Rational(6, 3).text(), "2");
  EXPECT_DOUBLE_EQ(Rational(1, 8).value(), 0.125);
  EXPECT_THROW(Rational(1, 0), ContractViolation);
}

TEST(Rational, CalculatesExactly) {
  for (int a = -6; a <= 6; ++a) {
    for (int b = 1; b <= 6; ++b) {
      for (int c = -6; c <= 6; ++c) {
        for (int d = 1; d <= 6; ++d) {
          const Rational x(a, b);
          const Rational y(c, d);
          EXPECT_EQ(x + y, Rational(a * d + c * b, b * d));
          EXPECT_EQ(x * y, Rational(a * c, b * d));
          if (c != 0) {
            EXPECT_EQ(x / y, Rational(a * d, b * c));
          }
          EXPECT_EQ(x < y, a * d < c * b);
        }
      }
    }
  }
}

TEST(Rational, RefusesResultsThatDoNotFit) {
  EXPECT_EQ(Rational(kLargest, 2) * Rational(2, kLargest), Rational(1));
  EXPECT_THROW(Rational(kLargest) * Rational(2), ContractViolation);
  EXPECT_THROW(Rational(kLargest) + Rational(1), ContractViolation);
}

}  // namespace
}  // namespace paceline
