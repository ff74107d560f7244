// The kernels against naive sums in long double.
#include "paceline/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using Vector = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Around the block length of the kernel (2048), which also leaves remainders for vector units.
constexpr std::size_t kLengths[] = {0, 1, 2, 15, 17, 2047, 2048, 2049, 4096, 10000};

Vector random_vector(RandomStream& random, std::size_t length) {
  Vector values(length);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

TEST(WeightedSum, AgreesWithANaiveSumForOddAndEvenNumbersOfMessages) {
  RandomStream random(1, "weighted sum");
  for (const std::size_t d : kLengths) {
    for (const std::size_t m : {0U, 1U, 2U, 3U, 4U, 7U}) {
      std::vector<Vector> values;
      std::vector<WeightedMessage> messages;
      for (std::size_t i = 0; i < m; ++i) values.push_back(random_vector(random, d));
      for (std::size_t i = 0; i < m; ++i) messages.push_back({values[i], random.normal()});
      Vector out(d, kNan);
      weighted_sum(messages, out);
      for (std::size_t j = 0; j < d; ++j) {
        long double expected = 0;
        long double size = 0;
        for (const WeightedMessage& message : messages) {
          const long double product = static_cast<long double>(message.weight) * message.values[j];
          expected += product;
          size += std::abs(product);
        }
        // Rounded once to float32, after float64 errors that are tiny beside it.
        const auto tolerance =
            static_cast<double>(std::abs(expected) * 0x1.0p-24L + size * 0x1.0p-50L);
        ASSERT_NEAR(static_cast<double>(out[j]), static_cast<double>(expected), tolerance)
            << "d=" << d << " m=" << m << " j=" << j;
      }
    }
  }
}

TEST(WeightedSum, KeepsWhatFloat32WouldLose) {
  const Vector large(100, 1e8F);
  const Vector small(100, 1.0F);
  const std::vector<WeightedMessage> messages = {{large, 1}, {small, 1}, {large, -1}};
  Vector out(100);
  weighted_sum(messages, out);
  EXPECT_EQ(out, small);
}

TEST(WeightedSum, AddsInTheOrderGiven) {
  // In float64 the one is lost if it comes after 1e17, not if it comes last.
  const Vector large(3000, 1e17F);
  const Vector one(3000, 1.0F);
  Vector out(3000);
  weighted_sum(std::vector<WeightedMessage>{{large, 1}, {one, 1}, {large, -1}}, out);
  EXPECT_EQ(out, Vector(3000, 0.0F));
  weighted_sum(std::vector<WeightedMessage>{{large, 1}, {large, -1}, {one, 1}}, out);
  EXPECT_EQ(out, one);
}

// A product is rounded before it is added: a fused multiply-add would leave 2^-75 here, and sums
// would depend on the machine.
TEST(WeightedSum, RoundsProductsBeforeItAddsThem) {
  const Vector one(5000, 1.0F);
  const Vector more(5000, 1.0F + 0x1.0p-23F);
  const double weight = 1 + 0x1.0p-52;
  const double rounded = 1 + 0x1.0p-23 + 0x1.0p-52;
  Vector out(5000);
  weighted_sum(std::vector<WeightedMessage>{{one, -rounded}, {more, weight}}, out);
  EXPECT_EQ(out, Vector(5000, 0.0F));
  weighted_sum(std::vector<WeightedMessage>{{one, 0.5}, {one, -0.5 - rounded}, {more, weight}},
               out);
  EXPECT_EQ(out, Vector(5000, 0.0F));
  std::vector<double> sum(5000, -rounded);
  add_scaled(weight, more, sum);
  EXPECT_EQ(sum, std::vector<double>(5000, 0.0));
}

TEST(WeightedSum, MessagesOfWeightZeroAreNotRead) {
  const Vector poison(2500, kNan);
  const Vector good(2500, 2.0F);
  Vector out(2500);
  const WeightedMessage bad{poison, 0};
  weighted_sum(std::vector<WeightedMessage>{bad, {good, 0.5}, bad, {good, 1}, bad}, out);
  EXPECT_EQ(out, Vector(2500, 3.0F));
  weighted_sum(std::vector<WeightedMessage>{bad, bad, {poison, -0.0}}, out);
  EXPECT_EQ(out, Vector(2500, 0.0F));
}

TEST(WeightedSum, PassesOnWhatIsNotFinite) {
  const Vector poison(10, kNan);
  Vector out(10);
  weighted_sum(std::vector<WeightedMessage>{{poison, 1e-30}}, out);
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
  const Vector huge(10, 3e38F);
  weighted_sum(std::vector<WeightedMessage>{{huge, 2}}, out);
  EXPECT_EQ(out, Vector(10, kInfinity));
}

TEST(WeightedSum, RefusesMessagesOfAnotherLength) {
  const Vector values(3);
  Vector out(4);
  EXPECT_THROW(weighted_sum(std::vector<WeightedMessage>{{values, 1}}, out), ContractViolation);
  EXPECT_THROW(weighted_sum(std::vector<WeightedMessage>{{values, 0}}, out), ContractViolation);
}

TEST(AddScaled, AddsToWhatIsThere) {
  RandomStream random(1, "add scaled");
  for (const std::size_t d : kLengths) {
    const Vector values = random_vector(random, d);
    std::vector<double> sum(d, 0.25);
    add_scaled(-1.5, values, sum);
    for (std::size_t j = 0; j < d; ++j)
      ASSERT_EQ(sum[j], 0.25 - 1.5 * static_cast<double>(values[j]));
  }
  std::vector<double> sum(3);
  EXPECT_THROW(add_scaled(1, Vector(4), sum), ContractViolation);
}

TEST(AllFinite, FindsOneBadNumberAnywhere) {
  for (const std::size_t d : kLengths) {
    Vector values(d, 1.0F);
    EXPECT_TRUE(all_finite(values));
    for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < d; at += 1 + d / 37) {
        values[at] = bad;
        EXPECT_FALSE(all_finite(values)) << bad << " at " << at << " of " << d;
        values[at] = 1.0F;
      }
      if (d == 0) continue;
      values.back() = bad;
      EXPECT_FALSE(all_finite(values));
      values.back() = 1.0F;
    }
  }
}

TEST(AllFinite, EveryFiniteNumberIsFinite) {
  using Limits = std::numeric_limits<float>;
  EXPECT_TRUE(all_finite(Vector{0.0F,
                                -0.0F,
                                Limits::denorm_min(),
                                -Limits::denorm_min(),
                                Limits::min() / 2,
                                Limits::min(),
                                Limits::max(),
                                Limits::lowest()}));
  EXPECT_FALSE(all_finite(Vector{Limits::signaling_NaN()}));
}

TEST(RelativeError, IsTheNormOfTheDifferenceOverTheNormOfTheSecond) {
  EXPECT_DOUBLE_EQ(relative_error(Vector{3, 4}, Vector{0, 4}), 0.75);
  EXPECT_DOUBLE_EQ(relative_error(Vector{1, 2}, Vector{1, 2}), 0);
  EXPECT_DOUBLE_EQ(relative_error(Vector{}, Vector{}), 0);
}

TEST(RelativeError, IsTheSizeOfTheFirstWhereTheSecondIsZero) {
  EXPECT_DOUBLE_EQ(relative_error(Vector{3, 4}, Vector{0, 0}), 5);
}

TEST(RelativeError, DoesNotOverflowAndPassesOnNan) {
  EXPECT_DOUBLE_EQ(relative_error(Vector{-3e38F}, Vector{3e38F}), 2);
  EXPECT_TRUE(std::isnan(relative_error(Vector{kNan}, Vector{1})));
  EXPECT_THROW(relative_error(Vector{1}, Vector{1, 2}), ContractViolation);
}

}  // namespace
}  // namespace paceline
