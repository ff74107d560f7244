// Decoding where messages lie wherever their owner keeps them: no copy is made.
#pragma once

#include <span>

#include "paceline/gradient_code.hpp"

namespace paceline {

/// The decoded gradient: out = sum of the combination's terms, accumulated in float64.
///
/// @param messages  shape (n): messages[i] is worker i's, of shape (message length), read only
/// where
///                  it has a term
/// @param out       shape (d, rounded up to a multiple of code.shape.parts); overwritten, must not
///                  alias a message
/// @pre   the messages that are read have code.shape.message_length(out.size()) numbers, else
///        ContractViolation
void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::span<const float>> messages,
           std::span<float> out);

/// The same for messages that were never rounded to float32.
void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::span<const double>> messages,
           std::span<double> out);

}  // namespace paceline
