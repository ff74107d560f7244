// Exact fractions of whole numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace paceline {

/// over / under in lowest terms, under > 0. Results that do not fit into 64 bits are
/// ContractViolations.
class Rational {
 public:
  /// @pre under != 0
  Rational(std::int64_t over, std::int64_t under = 1);

  std::int64_t over() const { return over_; }

  std::int64_t under() const { return under_; }

  double value() const { return static_cast<double>(over_) / static_cast<double>(under_); }

  std::string text() const;  ///< "7/928", or "1" for a whole number

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  ///< @pre b is not 0

  friend bool operator==(const Rational& a, const Rational& b) = default;
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);

 private:
  std::int64_t over_;
  std::int64_t under_;
};

}  // namespace paceline
