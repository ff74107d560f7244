// What every gradient source promises, as one suite: additivity over samples and chunks, exact
// weights, accumulation into `out`, independent clones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "paceline/kernels.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/random.hpp"
#include "paceline/training.hpp"

namespace paceline::test {

struct Computed {
  std::vector<float> gradient;
  double loss = 0;
};

inline Computed compute(GradientSource& source,
                        std::span<const float> parameters,
                        std::span<const int> samples,
                        std::span<const float> weights) {
  Computed computed{std::vector<float>(source.length(), 0.0F)};
  computed.loss = source.add_gradient(parameters, samples, weights, computed.gradient);
  return computed;
}

inline std::vector<float> sum(const std::vector<std::vector<float>>& terms) {
  std::vector<float> total(terms[0].size());
  std::vector<WeightedMessage> messages;
  for (const std::vector<float>& term : terms) messages.push_back({term, 1});
  weighted_sum(messages, total);
  return total;
}

inline constexpr double kTolerance = 1e-5;  ///< relative, float32 sums in another order

/// Samples 0 ... 15 in an order of their own.
inline std::vector<int> sixteen_samples() { return RandomStream(3, "samples").permutation(16); }

inline void expect_sum_over_single_samples(GradientSource& source,
                                           std::span<const float> parameters) {
  const std::vector<int> samples = sixteen_samples();
  RandomStream stream(4, "weights");
  std::vector<float> weights;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    weights.push_back(static_cast<float>(stream.normal()));
  }
  std::vector<std::vector<float>> singles;
  double loss = 0;
  const std::vector<float> one{1.0F};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Computed single = compute(source, parameters, std::span(samples).subspan(i, 1), one);
    for (float& g : single.gradient) g *= weights[i];
    loss += single.loss;
    singles.push_back(std::move(single.gradient));
  }
  const Computed together = compute(source, parameters, samples, weights);
  EXPECT_LT(relative_error(together.gradient, sum(singles)), kTolerance);
  EXPECT_NEAR(together.loss, loss, kTolerance * std::abs(loss));
}

/// Chunks of 5, 0, 1 and 10 samples, each its own message, against one gradient over all.
inline void expect_sum_over_chunks(GradientSource& source, std::span<const float> parameters) {
  const std::vector<int> samples = sixteen_samples();
  const std::vector<int> borders{0, 5, 5, 6, 16};
  std::vector<std::vector<float>> messages;
  int visited = 0;
  for (int chunk = 0; chunk < 4; ++chunk) {
    MadeMessage made;
    const Row row({Term{ChunkId{chunk}}});
    make_message(source, row, {}, parameters, samples, borders, 4, {}, made);
    visited += made.samples;
    messages.push_back(made.values);
  }
  EXPECT_EQ(visited, 16);
  EXPECT_EQ(messages[1], std::vector<float>(source.length(), 0.0F)) << "message of an empty chunk";
  const std::vector<float> ones(16, 1.0F);
  const Computed whole = compute(source, parameters, samples, ones);
  EXPECT_LT(relative_error(sum(messages), whole.gradient), kTolerance);
}

/// A coded message is the weighted combination of its chunks' gradients.
inline void expect_coded_message_is_combination(GradientSource& source,
                                                std::span<const float> parameters) {
  const std::vector<int> samples = sixteen_samples();
  const std::vector<int> borders{0, 3, 7, 7, 16};
  const std::vector<double> weights{0.75, -1.5, 4, 2.25};
  std::vector<Term> terms;
  std::vector<std::vector<float>> chunks;
  for (int j = 0; j < 4; ++j) {
    const auto index = static_cast<std::size_t>(j);
    terms.push_back(Term{ChunkId{j}, weights[index]});
    MadeMessage made;
    const Row alone({Term{ChunkId{j}}});
    make_message(source, alone, {}, parameters, samples, borders, 16, {}, made);
    for (float& g : made.values) g *= static_cast<float>(weights[index]);
    chunks.push_back(made.values);
  }
  MadeMessage coded;
  make_message(source, Row(terms), {}, parameters, samples, borders, 16, {}, coded);
  EXPECT_LT(relative_error(coded.values, sum(chunks)), kTolerance);
}

inline void expect_added_to_out(GradientSource& source, std::span<const float> parameters) {
  const std::vector<int> samples{2, 9};
  const std::vector<float> ones{1, 1};
  const Computed fresh = compute(source, parameters, samples, ones);
  std::vector<float> out(source.length(), 0.5F);
  source.add_gradient(parameters, samples, ones, out);
  for (std::size_t j = 0; j < out.size(); ++j) {
    ASSERT_NEAR(out[j], fresh.gradient[j] + 0.5F, 1e-5) << "parameter " << j;
  }
}

inline void expect_clones_equal_and_independent(GradientSource& source,
                                                std::span<const float> parameters) {
  const std::vector<int> samples{1, 4, 8};
  const std::vector<float> weights{1, 2, -1};
  const auto copy = source.clone();
  EXPECT_EQ(copy->length(), source.length());
  EXPECT_EQ(copy->samples(), source.samples());
  const Computed original = compute(source, parameters, samples, weights);
  compute(*copy, parameters, std::vector<int>{3}, std::vector<float>{1});
  EXPECT_EQ(compute(*copy, parameters, samples, weights).gradient, original.gradient);
}

inline void expect_conforms(GradientSource& source, std::span<const float> parameters) {
  expect_sum_over_single_samples(source, parameters);
  expect_sum_over_chunks(source, parameters);
  expect_coded_message_is_combination(source, parameters);
  expect_added_to_out(source, parameters);
  expect_clones_equal_and_independent(source, parameters);
}

/// Central differences of the loss, against the gradient. Each trial goes along the gradient of a
/// random half of the parameters: with the float32 losses of thousands of parameters, directions
/// without a large slope drown in rounding and in the kinks of ReLU.
///
/// @param step  length of the way to both sides
inline void expect_gradient_by_differences(GradientSource& source,
                                           std::span<const float> parameters,
                                           double step,
                                           double tolerance) {
  const std::vector<int> samples = sixteen_samples();
  const std::vector<float> ones(16, 1.0F);
  const Computed at = compute(source, parameters, samples, ones);
  RandomStream stream(8, "directions");
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<double> direction;
    double slope = 0;
    for (const float g : at.gradient) {
      direction.push_back(stream.bits() % 2 == 0 ? static_cast<double>(g) : 0.0);
      slope += direction.back() * direction.back();
    }
    slope = std::sqrt(slope);
    std::vector<double> losses;
    for (const double sign : {-1.0, 1.0}) {
      std::vector<float> moved(parameters.begin(), parameters.end());
      for (std::size_t j = 0; j < moved.size(); ++j) {
        moved[j] += static_cast<float>(sign * step / slope * direction[j]);
      }
      losses.push_back(compute(source, moved, samples, ones).loss);
    }
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * step), slope, tolerance * slope);
  }
}

/// Probabilities are those whose logarithms evaluate() adds up, and need no labels.
inline void expect_probabilities(TrainingModel& model,
                                 std::span<const float> parameters,
                                 const DataSet& data) {
  DataSet unlabelled = data;
  unlabelled.labels.clear();
  const std::vector<float> probabilities = model.probabilities(parameters, unlabelled);
  const auto classes = static_cast<std::size_t>(data.classes);
  ASSERT_EQ(probabilities.size(), static_cast<std::size_t>(data.samples) * classes);
  double loss = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const float p = probabilities[i * classes + c];
      ASSERT_GE(p, 0.0F);
      sum += static_cast<double>(p);
    }
    ASSERT_NEAR(sum, 1, 1e-5);
    const auto label = static_cast<std::size_t>(data.labels[i]);
    loss -= std::log(static_cast<double>(probabilities[i * classes + label]));
  }
  const auto evaluation = model.evaluate(parameters, data);
  EXPECT_NEAR(loss / data.samples, evaluation.loss, 1e-5);
  EXPECT_DOUBLE_EQ(accuracy_of(probabilities, data), evaluation.accuracy);
}

}  // namespace paceline::test
