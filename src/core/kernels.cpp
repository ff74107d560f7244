#include "paceline/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "paceline/check.hpp"
#include "paceline/simd.hpp"

namespace paceline {
namespace {

// One block of the sum stays in the first-level cache while every message streams past once.
constexpr std::size_t kBlock = 2048;

PACELINE_SIMD void add_block(double weight, const float* values, double* sum, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) sum[j] += weight * static_cast<double>(values[j]);
}

PACELINE_SIMD void add_block2(
    double w0, const float* v0, double w1, const float* v1, double* sum, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    sum[j] = sum[j] + w0 * static_cast<double>(v0[j]) + w1 * static_cast<double>(v1[j]);
  }
}

PACELINE_SIMD bool finite_block(const float* values, std::size_t count) {
  constexpr std::uint32_t kExponent = 0x7F800000U;  // all ones: infinity or NaN
  std::uint32_t found = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const auto bits = std::bit_cast<std::uint32_t>(values[j]);
    found |= (bits & kExponent) == kExponent ? 1U : 0U;
  }
  return found == 0;
}

}  // namespace

void weighted_sum(std::span<const WeightedMessage> messages, std::span<float> out) {
  for (const WeightedMessage& m : messages) PACELINE_CHECK(m.values.size() == out.size());
  std::array<double, kBlock> sum;
  for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, out.size() - begin);
    std::fill_n(sum.begin(), count, 0.0);
    const WeightedMessage* waiting = nullptr;  // messages go in pairs: half the traffic on `sum`
    for (const WeightedMessage& m : messages) {
      if (m.weight == 0) continue;
      if (waiting == nullptr) {
        waiting = &m;
        continue;
      }
      add_block2(waiting->weight,
                 waiting->values.data() + begin,
                 m.weight,
                 m.values.data() + begin,
                 sum.data(),
                 count);
      waiting = nullptr;
    }
    if (waiting != nullptr)
      add_block(waiting->weight, waiting->values.data() + begin, sum.data(), count);
    for (std::size_t j = 0; j < count; ++j) out[begin + j] = static_cast<float>(sum[j]);
  }
}

void add_scaled(double weight, std::span<const float> values, std::span<double> sum) {
  PACELINE_CHECK(values.size() == sum.size());
  add_block(weight, values.data(), sum.data(), sum.size());
}

bool all_finite(std::span<const float> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    if (!finite_block(values.data() + begin, std::min(kBlock, values.size() - begin))) return false;
  }
  return true;
}

double relative_error(std::span<const float> a, std::span<const float> b) {
  PACELINE_CHECK(a.size() == b.size());
  double difference = 0;
  double size = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double d = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    difference += d * d;
    size += static_cast<double>(b[j]) * static_cast<double>(b[j]);
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

}  // namespace paceline
