// The conversions are integer arithmetic without branches, which the compiler turns into vectors of
// whatever width the machine has. Those of the processor (F16C) are a feature of their own, which a
// function made for AVX2 may not use.
#include "paceline/message_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/simd.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

constexpr std::size_t kPackedAtOnce = 2048;

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity32 = 0x7F800000U;

// float16 has 5 bits of exponent and 10 of mantissa, float32 8 and 23.
constexpr unsigned kDropped = 13;                    // bits of the mantissa
constexpr std::uint32_t kRebias = 112U << 23U;       // the exponents' biases are 127 and 15
constexpr std::uint32_t kSubnormal16 = 113U << 23U;  // 2^-14: numbers below it are subnormal
constexpr std::uint32_t kOverflow16 = 0x477FF000U;   // 65520: it rounds up to infinity
constexpr std::uint32_t kInfinity16 = 0x7C00U;
constexpr std::uint32_t kQuiet16 = 0x7E00U;   // NaN
constexpr std::uint32_t kHalf = 126U << 23U;  // 0.5, whose last place is 2^-24

constexpr int kTop16 = 15;            // exponent of the uppermost binade
constexpr int kDigits16 = 11;         // with the leading one
constexpr int kLeastExponent = -126;  // so that its power of two is a float32, and its inverse

std::uint32_t float16_code(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & ~kSign;
  // Half of the last place is added, less one bit where that place is even.
  const std::uint32_t normal = (size - kRebias + 0xFFFU + (size >> kDropped & 1U)) >> kDropped;
  // Beside 0.5 a subnormal number is rounded to a multiple of 2^-24 by the addition.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(kHalf)) -
      kHalf;
  const std::uint32_t endless = size > kInfinity32 ? kQuiet16 : kInfinity16;
  std::uint32_t code = size < kSubnormal16 ? subnormal : normal;
  code = size >= kOverflow16 ? endless : code;
  return code | (bits & kSign) >> 16U;
}

float float16_value(std::uint32_t code) {
  const std::uint32_t size = (code & 0x7FFFU) << kDropped;
  const std::uint32_t exponent = size & kInfinity16 << kDropped;
  const std::uint32_t normal =
      size + kRebias + (exponent == kInfinity16 << kDropped ? kRebias : 0U);
  // As if it were normal it is 2^-14 too much.
  const float subnormal =
      std::bit_cast<float>(size + kSubnormal16) - std::bit_cast<float>(kSubnormal16);
  const std::uint32_t value = exponent == 0 ? std::bit_cast<std::uint32_t>(subnormal) : normal;
  return std::bit_cast<float>(value | (code & 0x8000U) << 16U);
}

std::uint32_t bfloat16_code(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16U & 1U);
  const std::uint32_t quiet = bits | 0x400000U;  // a NaN must not become infinity
  return ((bits & ~kSign) > kInfinity32 ? quiet : rounded) >> 16U;
}

PACELINE_SIMD void pack_float16(const float* values,
                                float factor,
                                std::uint16_t* codes,
                                std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    codes[j] = static_cast<std::uint16_t>(float16_code(values[j] * factor));
  }
}

PACELINE_SIMD void unpack_float16(const std::uint16_t* codes,
                                  float factor,
                                  float* values,
                                  std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) values[j] = float16_value(codes[j]) * factor;
}

PACELINE_SIMD void pack_bfloat16(const float* values, std::uint16_t* codes, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    codes[j] = static_cast<std::uint16_t>(bfloat16_code(values[j]));
  }
}

PACELINE_SIMD void unpack_bfloat16(const std::uint16_t* codes, float* values, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    values[j] = std::bit_cast<float>(static_cast<std::uint32_t>(codes[j]) << 16U);
  }
}

/// The largest magnitude, as bits: those of floats are in the order of their sizes, NaN last.
PACELINE_SIMD std::uint32_t largest_bits(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(values[j]) & ~kSign;
    largest = size > largest ? size : largest;
  }
  return largest;
}

}  // namespace

std::size_t bytes_of(MessageType type) {
  switch (type) {
    case MessageType::kFloat16:
    case MessageType::kBfloat16:
      return 2;
    case MessageType::kFloat32:
      return 4;
    case MessageType::kFloat64:
      break;
  }
  return 8;
}

double unit_roundoff(MessageType type) {
  switch (type) {
    case MessageType::kFloat16:
      return 0x1.0p-11;
    case MessageType::kBfloat16:
      return 0x1.0p-8;
    case MessageType::kFloat32:
      return 0x1.0p-24;
    case MessageType::kFloat64:
      break;
  }
  return 0x1.0p-53;
}

std::string message_type_name(MessageType type) {
  switch (type) {
    case MessageType::kFloat16:
      return "float16";
    case MessageType::kBfloat16:
      return "bfloat16";
    case MessageType::kFloat32:
      return "float32";
    case MessageType::kFloat64:
      break;
  }
  return "float64";
}

Expected<MessageType> parse_message_type(std::string_view text) {
  std::vector<std::string> names;
  for (const MessageType type :
       {MessageType::kFloat32, MessageType::kFloat16, MessageType::kBfloat16}) {
    names.push_back(message_type_name(type));
    if (text == names.back()) return type;
  }
  return invalid(unknown_name("message type", text, names));
}

int packing_exponent(MessageType type, std::span<const float> message) {
  if (type != MessageType::kFloat16) return 0;
  const std::uint32_t largest = largest_bits(message.data(), message.size());
  if (largest == 0 || largest >= kInfinity32) return 0;
  // As it will be after rounding, which may carry into the next binade.
  int exponent = 0;
  const float fraction = std::frexp(std::bit_cast<float>(largest), &exponent);  // 0.5 ... 1
  if (std::nearbyint(std::ldexp(fraction, kDigits16)) == std::ldexp(1.0F, kDigits16)) ++exponent;
  return std::max(exponent - 1 - kTop16, kLeastExponent);
}

void pack(MessageType type,
          int exponent,
          std::span<const float> values,
          std::span<std::uint16_t> codes) {
  PACELINE_CHECK(is_packed(type) && values.size() == codes.size());
  if (type == MessageType::kBfloat16) {
    pack_bfloat16(values.data(), codes.data(), values.size());
  } else {
    pack_float16(values.data(), std::ldexp(1.0F, -exponent), codes.data(), values.size());
  }
}

void unpack(MessageType type,
            int exponent,
            std::span<const std::uint16_t> codes,
            std::span<float> values) {
  PACELINE_CHECK(is_packed(type) && values.size() == codes.size());
  if (type == MessageType::kBfloat16) {
    unpack_bfloat16(codes.data(), values.data(), values.size());
  } else {
    unpack_float16(codes.data(), std::ldexp(1.0F, exponent), values.data(), values.size());
  }
}

void round_message(MessageType type, std::span<float> message) {
  if (!is_packed(type)) return;
  const int exponent = packing_exponent(type, message);
  std::array<std::uint16_t, kPackedAtOnce> codes;
  for (std::size_t begin = 0; begin < message.size(); begin += kPackedAtOnce) {
    const std::size_t count = std::min(kPackedAtOnce, message.size() - begin);
    const auto block = message.subspan(begin, count);
    pack(type, exponent, block, std::span(codes).first(count));
    unpack(type, exponent, std::span<const std::uint16_t>(codes).first(count), block);
  }
}

}  // namespace paceline
