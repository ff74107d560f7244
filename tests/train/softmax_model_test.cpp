#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/training.hpp"
#include "train/gradient_conformance.hpp"

namespace paceline {
namespace {

std::unique_ptr<TrainingModel> make_softmax(const DataSet& data) {
  return *make_training_model("softmax", data);
}

// Softmax regression in float64, class by class and sample by sample.
struct Reference {
  std::vector<double> gradient;
  double loss = 0;
  int right = 0;
};

Reference reference(const DataSet& data,
                    std::span<const float> parameters,
                    std::span<const int> samples,
                    std::span<const float> weights) {
  const auto features = static_cast<std::size_t>(data.features);
  const auto classes = static_cast<std::size_t>(data.classes);
  Reference result;
  result.gradient.assign(parameters.size(), 0.0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto x = data.input(samples[i]);
    const auto label = static_cast<std::size_t>(data.labels[static_cast<std::size_t>(samples[i])]);
    std::vector<double> z(classes);
    double total = 0;
    std::size_t best = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      z[c] = static_cast<double>(parameters[classes * features + c]);
      for (std::size_t j = 0; j < features; ++j) {
        z[c] += static_cast<double>(parameters[c * features + j]) * static_cast<double>(x[j]);
      }
      total += std::exp(z[c]);
      if (z[c] > z[best]) best = c;
    }
    result.right += best == label ? 1 : 0;
    result.loss += std::log(total) - z[label];
    for (std::size_t c = 0; c < classes; ++c) {
      const double by_logit =
          static_cast<double>(weights[i]) * (std::exp(z[c]) / total - (c == label ? 1.0 : 0.0));
      for (std::size_t j = 0; j < features; ++j) {
        result.gradient[c * features + j] += by_logit * static_cast<double>(x[j]);
      }
      result.gradient[classes * features + c] += by_logit;
    }
  }
  return result;
}

TEST(SoftmaxModel, MatchesTheFormulaInFloat64) {
  const DataSet data = make_synthetic_classes(200, 9, 4, 2);
  const auto model = make_softmax(data);
  ASSERT_EQ(model->length(), 40U);
  const std::vector<float> parameters = model->initial_parameters(1);
  std::vector<int> samples;
  std::vector<float> weights;
  for (int i = 0; i < 150; ++i) {  // more than one block, the last one not full
    samples.push_back((i * 7) % 200);
    weights.push_back(static_cast<float>(i % 5) - 1.5F);
  }
  const test::Computed computed = test::compute(*model, parameters, samples, weights);
  const Reference expected = reference(data, parameters, samples, weights);
  EXPECT_NEAR(computed.loss, expected.loss, 1e-6 * expected.loss);
  const std::vector<float> rounded(expected.gradient.begin(), expected.gradient.end());
  EXPECT_LT(relative_error(computed.gradient, rounded), 1e-6);
}

TEST(SoftmaxModel, KeepsThePromisesOfAGradientSource) {
  const DataSet data = make_synthetic_classes(16, 6, 3, 2);
  const auto model = make_softmax(data);
  const std::vector<float> parameters = model->initial_parameters(5);
  test::expect_conforms(*model, parameters);
  test::expect_gradient_by_differences(*model, parameters, 1e-2, 1e-3);
}

TEST(SoftmaxModel, StaysFiniteWithHugeLogits) {
  const DataSet data = make_synthetic_classes(16, 6, 3, 2);
  const auto model = make_softmax(data);
  std::vector<float> parameters = model->initial_parameters(5);
  for (float& p : parameters) p *= 1e6F;
  const std::vector<float> ones(16, 1.0F);
  const test::Computed computed = test::compute(*model, parameters, test::sixteen_samples(), ones);
  EXPECT_TRUE(std::isfinite(computed.loss));
  EXPECT_TRUE(all_finite(computed.gradient));
}

TEST(SoftmaxModel, EvaluatesMeanLossAndAccuracy) {
  const DataSet data = make_synthetic_classes(150, 9, 4, 2);
  const auto model = make_softmax(data);
  const std::vector<float> parameters = model->initial_parameters(1);
  std::vector<int> all(150);
  std::iota(all.begin(), all.end(), 0);
  const Reference expected = reference(data, parameters, all, std::vector<float>(all.size(), 1.0F));
  const auto evaluation = model->evaluate(parameters, data);
  EXPECT_NEAR(evaluation.loss, expected.loss / 150, 1e-6);
  EXPECT_DOUBLE_EQ(evaluation.accuracy, expected.right / 150.0);
}

TEST(SoftmaxModel, GivesProbabilities) {
  const DataSet data = make_synthetic_classes(150, 9, 4, 2);
  const auto model = make_softmax(data);
  test::expect_probabilities(*model, model->initial_parameters(1), data);
}

TEST(Ensemble, IsTheMeanOfItsModelsAndCanBeRightWhereNoneIsSure) {
  Ensemble ensemble;
  ensemble.add({0.6F, 0.4F, 0.0F});
  ensemble.add({0.0F, 0.4F, 0.6F});
  ensemble.add({0.3F, 0.4F, 0.3F});
  const std::vector<float> mean = ensemble.mean();
  EXPECT_NEAR(mean[0], 0.3, 1e-6);
  EXPECT_NEAR(mean[1], 0.4, 1e-6);
  EXPECT_NEAR(mean[2], 0.3, 1e-6);
  DataSet one{.samples = 1, .features = 1, .classes = 3, .inputs = {0}, .labels = {1}};
  EXPECT_EQ(accuracy_of(mean, one), 1);
  one.labels = {2};
  EXPECT_EQ(accuracy_of(mean, one), 0);
}

TEST(SoftmaxModel, LearnsSeparableClasses) {
  const DataSet data = make_synthetic_classes(600, 20, 3, 7);
  const auto model = make_softmax(data);
  std::vector<float> parameters = model->initial_parameters(1);
  const auto optimizer = make_optimizer("adam:lr=0.05");
  const auto sampler = make_permutation_sampler(600, 60, 1);
  std::vector<int> batch(60);
  const std::vector<float> mean(60, 1.0F / 60);
  for (int update = 0; update < 40; ++update) {
    sampler->batch(ModelId{0}, Version{update}, batch);
    (*optimizer)->step(parameters, test::compute(*model, parameters, batch, mean).gradient);
  }
  EXPECT_GT(model->evaluate(parameters, data).accuracy, 0.98);
}

TEST(SoftmaxModel, RefusesArraysOfWrongLength) {
  const DataSet data = make_synthetic_classes(16, 6, 3, 2);
  const auto model = make_softmax(data);
  std::vector<float> parameters = model->initial_parameters(5);
  std::vector<float> out(parameters.size() - 1);
  const std::vector<int> one{0};
  const std::vector<float> weight{1};
  EXPECT_THROW(model->add_gradient(parameters, one, weight, out), ContractViolation);
}

}  // namespace
}  // namespace paceline
