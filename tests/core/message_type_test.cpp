// Conversions to 16-bit numbers, all codes of them, against a table of what each code means and a
// search in it for the nearest number.
#include "paceline/message_type.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

constexpr std::size_t kCodes = 65536;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A type of 16 bits: sign, exponent, fraction, as IEEE 754 has them.
struct Format {
  MessageType type;
  int exponent_bits;
  int fraction_bits;

  unsigned endless() const {  // the code of infinity
    return ((1U << static_cast<unsigned>(exponent_bits)) - 1)
           << static_cast<unsigned>(fraction_bits);
  }

  /// What a code without sign stands for; that of infinity for the next number after the largest.
  double value(unsigned code) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto field = static_cast<int>(code >> static_cast<unsigned>(fraction_bits));
    const auto fraction = static_cast<double>(code % (1U << static_cast<unsigned>(fraction_bits)));
    if (field == 0) return std::ldexp(fraction, 1 - bias - fraction_bits);
    return std::ldexp(std::ldexp(1.0, fraction_bits) + fraction, field - bias - fraction_bits);
  }

  /// All of them from zero to infinity, in their order.
  std::vector<double> table() const {
    std::vector<double> values;
    for (unsigned code = 0; code <= endless(); ++code) values.push_back(value(code));
    return values;
  }
};

/// The code of the nearest number in the table; of two as near the one with the even code.
unsigned nearest_code(const std::vector<double>& table, float value) {
  const double size = std::abs(static_cast<double>(value));
  const auto above = std::ranges::lower_bound(table, size);
  auto code = static_cast<unsigned>(above - table.begin());
  if (above == table.end()) {
    code = static_cast<unsigned>(table.size()) - 1;
  } else if (*above != size) {
    const double up = *above - size;
    const double down = size - table[code - 1];
    if (down < up || (down == up && code % 2 == 1)) --code;
  }
  return code | (std::signbit(value) ? 0x8000U : 0U);
}

std::uint16_t packed(MessageType type, float value) {
  std::uint16_t code = 0;
  pack(type, 0, {&value, 1}, {&code, 1});
  return code;
}

class SixteenBits : public testing::TestWithParam<Format> {};

TEST_P(SixteenBits, EveryCodeStandsForItsNumber) {
  const Format& format = GetParam();
  std::vector<std::uint16_t> codes(kCodes);
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  std::vector<float> values(kCodes);
  unpack(format.type, 0, codes, values);
  std::vector<std::uint16_t> again(kCodes);
  pack(format.type, 0, values, again);
  for (unsigned code = 0; code < kCodes; ++code) {
    const unsigned size = code & 0x7FFFU;
    const bool negative = code > 0x7FFFU;
    ASSERT_EQ(std::signbit(values[code]), negative) << code;
    if (size > format.endless()) {
      ASSERT_TRUE(std::isnan(values[code])) << code;
      ASSERT_GT(again[code] & 0x7FFFU, format.endless()) << code;
      continue;
    }
    const double expected =
        size == format.endless() ? static_cast<double>(kInfinity) : format.value(size);
    ASSERT_EQ(static_cast<double>(std::abs(values[code])), expected) << code;
    ASSERT_EQ(again[code], code);
  }
}

TEST_P(SixteenBits, RoundsToTheNearestAndTiesToEven) {
  const Format& format = GetParam();
  const std::vector<double> table = format.table();
  std::vector<float> values;
  for (std::size_t k = 0; k + 1 < table.size(); ++k) {
    const auto tie = static_cast<float>((table[k] + table[k + 1]) / 2);
    for (const float value : {std::nextafter(tie, 0.0F), tie, std::nextafter(tie, kInfinity)}) {
      values.insert(values.end(), {value, -value});
    }
  }
  RandomStream random(1, "bits of floats");
  for (int k = 0; k < 100'000; ++k) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(1ULL << 32U)));
    if (!std::isnan(value)) values.push_back(value);
  }
  std::vector<std::uint16_t> codes(values.size());
  pack(format.type, 0, values, codes);
  for (std::size_t k = 0; k < values.size(); ++k) {
    ASSERT_EQ(codes[k], nearest_code(table, values[k])) << values[k];
  }
}

TEST_P(SixteenBits, WhatIsNotFiniteStaysSo) {
  const Format& format = GetParam();
  EXPECT_EQ(packed(format.type, kInfinity), format.endless());
  EXPECT_EQ(packed(format.type, -kInfinity), format.endless() | 0x8000U);
  // A NaN whose last bits alone say so must not turn into infinity.
  for (const std::uint32_t bits : {0x7FC00000U, 0x7F800001U, 0x7FBFFFFFU, 0xFFFFFFFFU}) {
    EXPECT_GT(packed(format.type, std::bit_cast<float>(bits)) & 0x7FFFU, format.endless()) << bits;
  }
  for (const float bad : {kNan, kInfinity}) {
    std::vector<float> message = {1.0F, bad, 1e-3F};
    EXPECT_EQ(packing_exponent(format.type, message), 0);
    round_message(format.type, message);
    EXPECT_FALSE(std::isfinite(message[1]));
  }
}

/// A message of normal numbers of about that size.
std::vector<float> random_message(RandomStream& random, std::size_t length, double size) {
  std::vector<float> message(length);
  for (float& value : message) value = static_cast<float>(size * random.normal());
  return message;
}

TEST_P(SixteenBits, AMessageOfAnySizeIsOffByNoMoreThanTheUnitRoundoff) {
  const MessageType type = GetParam().type;
  RandomStream random(2, "messages");
  const double u = unit_roundoff(type);
  for (int power = -100; power <= 120; power += 5) {
    for (const std::size_t length : {1U, 3U, 2047U, 2049U}) {
      const std::vector<float> message = random_message(random, length, std::ldexp(1.0, power));
      std::vector<float> rounded = message;
      round_message(type, rounded);
      double largest = 0;
      for (const float value : message) {
        largest = std::max(largest, static_cast<double>(std::abs(value)));
      }
      bool rounds = false;
      for (std::size_t j = 0; j < length; ++j) {
        const double x = message[j];
        const double error = std::abs(rounded[j] - x);
        ASSERT_LE(error, std::max(u * std::abs(x), 0x1p-40 * largest)) << x << " of 2^" << power;
        rounds = rounds || error > u / 8 * std::abs(x);
      }
      EXPECT_TRUE(rounds || length < 4) << power;
    }
  }
}

TEST_P(SixteenBits, ARoundedMessageIsPackedAsItIs) {
  const MessageType type = GetParam().type;
  RandomStream random(3, "messages");
  for (int power = -148; power <= 120; power += 3) {
    std::vector<float> message = random_message(random, 100, std::ldexp(1.0, power));
    for (std::size_t j = 0; j < message.size(); ++j) {  // small numbers beside large ones
      message[j] = std::ldexp(message[j], -static_cast<int>(j % 32));
    }
    const int exponent = packing_exponent(type, message);
    std::vector<std::uint16_t> codes(message.size());
    pack(type, exponent, message, codes);
    std::vector<float> unpacked(message.size());
    unpack(type, exponent, codes, unpacked);
    round_message(type, message);
    ASSERT_EQ(message, unpacked) << power;
    ASSERT_EQ(packing_exponent(type, message), exponent) << power;
    std::vector<std::uint16_t> again(message.size());
    pack(type, exponent, message, again);
    ASSERT_EQ(again, codes) << power;
  }
}

INSTANTIATE_TEST_SUITE_P(Types,
                         SixteenBits,
                         testing::Values(Format{MessageType::kFloat16, 5, 10},
                                         Format{MessageType::kBfloat16, 8, 7}),
                         [](const auto& format) { return message_type_name(format.param.type); });

TEST(Float16, TheLargestNumberOfAMessageIsInTheUppermostBinade) {
  for (const float largest : {1.0F, 1.9990F, 3.9999F, 65504.0F, 1e-30F, 0x1p-110F, 3e38F}) {
    const std::vector<float> message = {0.25F * largest, -largest};
    const int exponent = packing_exponent(MessageType::kFloat16, message);
    std::vector<std::uint16_t> codes(2);
    pack(MessageType::kFloat16, exponent, message, codes);
    std::vector<float> scaled(2);
    unpack(MessageType::kFloat16, 0, codes, scaled);
    EXPECT_GE(-scaled[1], 32768.0F) << largest;
    EXPECT_LE(-scaled[1], 65504.0F) << largest;
  }
}

TEST(Float16, RoundingMayCarryIntoTheNextBinade) {
  // 11 digits of 1 - 2^-12 are 1; of the largest float32 they are 2^128, which none can hold.
  std::vector<float> message = {1 - 0x1p-12F};
  EXPECT_EQ(packing_exponent(MessageType::kFloat16, message), -15);
  round_message(MessageType::kFloat16, message);
  EXPECT_EQ(message[0], 1.0F);
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    std::vector<float> largest = {std::numeric_limits<float>::max()};
    round_message(type, largest);
    EXPECT_EQ(largest[0], kInfinity) << message_type_name(type);
  }
}

TEST(MessageType, ZerosAndNothingStayAsTheyAre) {
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    std::vector<float> zeros = {0.0F, -0.0F};
    EXPECT_EQ(packing_exponent(type, zeros), 0);
    round_message(type, zeros);
    EXPECT_EQ(zeros, (std::vector<float>{0.0F, 0.0F}));
    EXPECT_TRUE(std::signbit(zeros[1]));
    std::vector<float> nothing;
    round_message(type, nothing);
    EXPECT_EQ(packing_exponent(type, nothing), 0);
  }
}

TEST(MessageType, Float32IsNotRounded) {
  std::vector<float> message = {0x1.234566p-3F, kNan};
  round_message(MessageType::kFloat32, message);
  EXPECT_EQ(message[0], 0x1.234566p-3F);
  EXPECT_FALSE(is_packed(MessageType::kFloat32));
  std::vector<std::uint16_t> codes(2);
  EXPECT_THROW(pack(MessageType::kFloat32, 0, message, codes), ContractViolation);
  EXPECT_THROW(pack(MessageType::kFloat16, 0, message, std::span(codes).first(1)),
               ContractViolation);
}

TEST(MessageType, IsReadFromText) {
  for (const MessageType type :
       {MessageType::kFloat32, MessageType::kFloat16, MessageType::kBfloat16}) {
    EXPECT_EQ(parse_message_type(message_type_name(type)).value(), type);
  }
  EXPECT_EQ(parse_message_type("bfloat6").error().message,
            "unknown message type 'bfloat6'; did you mean 'bfloat16'?");
  EXPECT_FALSE(parse_message_type("float64")) << "messages are made in float32";
  EXPECT_EQ(bytes_of(MessageType::kBfloat16), 2U);
  EXPECT_EQ(bytes_of(MessageType::kFloat32), 4U);
}

}  // namespace
}  // namespace paceline
