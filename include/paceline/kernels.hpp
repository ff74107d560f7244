// The kernels on payloads: messages are float32, coefficients float64, sums are accumulated in
// float64.
#pragma once

#include <span>

namespace paceline {

struct WeightedMessage {
  std::span<const float> values;  ///< shape (d)
  double weight = 1;
};

/// out = sum_i weight_i * values_i, accumulated in float64 in the order given and rounded to
/// float32 once.
///
/// @param messages  m messages of shape (d); a message of weight 0 is not read (0 * NaN must not
/// reach a model)
/// @param out       shape (d); overwritten, must not alias a message
/// @pre   all messages have out.size() numbers, else ContractViolation
/// Cost:  m*d multiply-adds at memory speed, no allocation
void weighted_sum(std::span<const WeightedMessage> messages, std::span<float> out);

/// sum[j] += weight * values[j], the running sum of an instalment. @pre equal sizes
void add_scaled(double weight, std::span<const float> values, std::span<double> sum);

/// Whether every number is finite.
bool all_finite(std::span<const float> values);

/// |a - b|_2 / |b|_2 in float64 (|a|_2 where b = 0). @pre equal sizes
double relative_error(std::span<const float> a, std::span<const float> b);

}  // namespace paceline
