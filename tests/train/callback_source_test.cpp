#include <gtest/gtest.h>

#include <vector>

#include "paceline/check.hpp"
#include "paceline/training.hpp"
#include "train/gradient_conformance.hpp"

namespace paceline {
namespace {

// Least squares: sample i has input (1, i/8), target sin(i).
double least_squares(std::span<const float> parameters,
                     std::span<const int> samples,
                     std::span<const float> weights,
                     std::span<float> out) {
  double loss = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float x = static_cast<float>(samples[i]) / 8;
    const float residual =
        parameters[0] + parameters[1] * x - std::sin(static_cast<float>(samples[i]));
    out[0] += weights[i] * residual;
    out[1] += weights[i] * residual * x;
    loss += 0.5 * static_cast<double>(residual) * static_cast<double>(residual);
  }
  return loss;
}

TEST(CallbackSource, KeepsThePromisesOfAGradientSource) {
  const auto source = make_callback_source(2, 16, least_squares);
  EXPECT_EQ(source->length(), 2U);
  EXPECT_EQ(source->samples(), 16);
  test::expect_conforms(*source, std::vector<float>{0.3F, -0.7F});
}

TEST(CallbackSource, ChecksLengthsBeforeTheCallbackSeesThem) {
  const auto source = make_callback_source(2, 16, least_squares);
  std::vector<float> out(2);
  const std::vector<int> samples{1, 2};
  const std::vector<float> one_weight{1};
  EXPECT_THROW(source->add_gradient(std::vector<float>(2), samples, one_weight, out),
               ContractViolation);
  EXPECT_THROW(make_callback_source(2, 16, nullptr), ContractViolation);
}

}  // namespace
}  // namespace paceline
