#include "paceline/torch_models.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "paceline/training.hpp"
#include "train/gradient_conformance.hpp"

namespace paceline {
namespace {

// The smallest images that both convolutional networks take, so that the suite runs in a moment.
DataSet images() {
  DataSet data = make_synthetic_classes(64, 16 * 16, 4, 1);
  data.height = 16;
  data.width = 16;
  return data;
}

class TorchModels : public testing::TestWithParam<std::string> {
 protected:
  TorchModels() : data_(images()) {
    register_torch_models().value();
    model_ = *make_training_model(GetParam(), data_);
    parameters_ = model_->initial_parameters(1);
  }

  DataSet data_;
  std::unique_ptr<TrainingModel> model_;
  std::vector<float> parameters_;
};

TEST_P(TorchModels, KeepsThePromisesOfAGradientSource) {
  test::expect_conforms(*model_, parameters_);
}

TEST_P(TorchModels, HasTheGradientThatDifferencesShow) {
  test::expect_gradient_by_differences(*model_, parameters_, 1e-3, 0.01);
}

TEST_P(TorchModels, LeavesParametersAndWeightsAlone) {
  const std::vector<float> before = parameters_;
  const std::vector<float> weights{1, 2};
  std::vector<float> out(parameters_.size());
  model_->add_gradient(parameters_, std::vector<int>{0, 1}, weights, out);
  EXPECT_EQ(parameters_, before);
  EXPECT_EQ(weights, (std::vector<float>{1, 2}));
}

TEST_P(TorchModels, EvaluatesTheLossThatTrainingSees) {
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<float> ones(64, 1.0F);
  const double loss = test::compute(*model_, parameters_, all, ones).loss;
  EXPECT_NEAR(model_->evaluate(parameters_, data_).loss, loss / 64, 1e-5);
}

TEST_P(TorchModels, GivesEveryThreadTheSameGradient) {
  std::vector<std::vector<float>> gradients(3);
  {
    std::vector<std::jthread> threads;
    for (std::vector<float>& mine : gradients) {
      threads.emplace_back([this, &mine] {
        const auto copy = model_->clone();
        const std::vector<float> ones(16, 1.0F);
        for (int i = 0; i < 3; ++i) {
          mine = test::compute(*copy, parameters_, test::sixteen_samples(), ones).gradient;
        }
      });
    }
  }
  EXPECT_EQ(gradients[1], gradients[0]);
  EXPECT_EQ(gradients[2], gradients[0]);
}

// "cpu:0" is the CPU by the path of other devices: parameters go over as a copy, gradients come
// back.
TEST_P(TorchModels, HasTheSameGradientOnADeviceThatNeedsCopies) {
  register_torch_models("cpu:0").value();
  const auto away = *make_training_model(GetParam(), data_);
  register_torch_models().value();
  const std::vector<float> weights(16, 0.5F);
  const auto here = test::compute(*model_, parameters_, test::sixteen_samples(), weights);
  const auto there = test::compute(*away, parameters_, test::sixteen_samples(), weights);
  EXPECT_NEAR(there.loss, here.loss, 1e-5);
  ASSERT_EQ(there.gradient.size(), here.gradient.size());
  for (std::size_t j = 0; j < here.gradient.size(); ++j) {
    ASSERT_NEAR(there.gradient[j], here.gradient[j], 1e-5) << j;
  }
  EXPECT_NEAR(
      away->evaluate(parameters_, data_).loss, model_->evaluate(parameters_, data_).loss, 1e-5);
}

TEST_P(TorchModels, GiveProbabilities) { test::expect_probabilities(*model_, parameters_, data_); }

TEST_P(TorchModels, LearnsSeparableClasses) {
  const auto optimizer = make_optimizer("adam:lr=0.003");
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<float> mean(64, 1.0F / 64);
  for (int update = 0; update < 25; ++update) {
    (*optimizer)->step(parameters_, test::compute(*model_, parameters_, all, mean).gradient);
  }
  EXPECT_GT(model_->evaluate(parameters_, data_).accuracy, 0.95);
}

INSTANTIATE_TEST_SUITE_P(,
                         TorchModels,
                         testing::Values("cnn", "small-cnn", "mlp"),
                         [](const auto& tested) {
                           return tested.param == "small-cnn" ? "small_cnn" : tested.param;
                         });

TEST(TorchModelNames, AreKnownOnceRegisteredHoweverOften) {
  register_torch_models().value();
  register_torch_models().value();
  EXPECT_EQ(training_model_names(),
            (std::vector<std::string>{"cnn", "mlp", "small-cnn", "softmax"}));
}

TEST(TorchModelNames, ComeWithAnErrorThatNamesADeviceThatIsNotHere) {
  const auto registered = register_torch_models("gpu");
  ASSERT_FALSE(registered);
  EXPECT_NE(registered.error().message.find("device 'gpu' cannot be used here; cpu always can"),
            std::string::npos);
  EXPECT_EQ(registered.error().message.find('\n'), std::string::npos);
}

TEST(TorchModelNames, ComeWithErrorsThatNameTheImagesNeeded) {
  register_torch_models().value();
  const DataSet data = make_synthetic_classes(4, 9, 2, 1);
  const auto model = make_training_model("cnn", data);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("9 features, no images"), std::string::npos);
}

}  // namespace
}  // namespace paceline
