// The number formats that messages travel in. A worker rounds its message once, to nearest, ties to
// even; what the master decodes are float32 numbers that the type can hold, so that it is the same
// whether a message went over a wire or stayed in memory.
//
// float16 has few exponents, so a message carries one for all its numbers: they are multiplied by
// the power of two that brings the largest one into the uppermost binade of the type. That costs no
// accuracy and is undone exactly; only numbers below 2^-29 of the largest lose digits. bfloat16 has
// the exponents of float32 and needs none. What rounds up to more than float32 can hold becomes
// infinity: 0.02 % below its largest number (float16), 0.2 % (bfloat16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "paceline/expected.hpp"

namespace paceline {

enum class MessageType {
  kFloat16,   ///< 11 binary digits, with an exponent per message
  kBfloat16,  ///< 8 binary digits
  kFloat32,   ///< 24
  kFloat64,   ///< 53; only in bounds, no message is sent in it
};

std::size_t bytes_of(MessageType type);

/// Half the distance from 1 to the next number.
double unit_roundoff(MessageType type);

/// "float16"
std::string message_type_name(MessageType type);

/// One of those that messages can be sent in: float32, float16, bfloat16.
Expected<MessageType> parse_message_type(std::string_view text);

/// Whether a number takes 16 bits: then a message is packed before it is sent.
inline bool is_packed(MessageType type) {
  return type == MessageType::kFloat16 || type == MessageType::kBfloat16;
}

/// e such that the message's numbers are packed as value * 2^-e. It does not change when the
/// message is rounded. 0: nothing is scaled, as for bfloat16, for zeros, and where a number is not
/// finite.
int packing_exponent(MessageType type, std::span<const float> message);

/// codes[j] = values[j] * 2^-exponent, rounded. NaN stays NaN, and what is too large becomes
/// infinity.
/// @pre is_packed(type), equal sizes, an exponent of packing_exponent()
void pack(MessageType type,
          int exponent,
          std::span<const float> values,
          std::span<std::uint16_t> codes);

/// values[j] = codes[j] * 2^exponent, exactly. @pre as pack()
void unpack(MessageType type,
            int exponent,
            std::span<const std::uint16_t> codes,
            std::span<float> values);

/// Rounds a message to what arrives when it is packed and unpacked. float32: it stays as it is.
void round_message(MessageType type, std::span<float> message);

}  // namespace paceline
