#include "train/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "paceline/training.hpp"

namespace paceline {
namespace {

DataSet images(int side) {
  DataSet data = make_synthetic_classes(20, side * side, 10, 1);
  data.height = side;
  data.width = side;
  return data;
}

// cnn: the network of the sequential gradient coding experiments on MNIST.
TEST(Network, HasTheDocumentedNumberOfParametersOnMnist) {
  EXPECT_EQ(make_network("cnn", images(28))->length(), 269'998U);
  EXPECT_EQ(make_network("small-cnn", images(28))->length(), 5'994U);
  EXPECT_EQ(make_network("mlp", images(28))->length(), 25'450U);
}

TEST(Network, TakesTheSmallestImagesThatItsErrorNames) {
  EXPECT_EQ(make_network("cnn", images(12)).error().message,
            "model 'cnn' needs images of at least 13 x 13; the samples of this data set are "
            "12 x 12; mlp and softmax take any");
  EXPECT_TRUE(make_network("cnn", images(13)));
  EXPECT_EQ(make_network("small-cnn", images(15)).error().message,
            "model 'small-cnn' needs images of at least 16 x 16; the samples of this data set are "
            "15 x 15; mlp and softmax take any");
  EXPECT_TRUE(make_network("small-cnn", images(16)));
  EXPECT_EQ(make_network("cnn", make_synthetic_classes(4, 784, 2, 1)).error().message,
            "model 'cnn' needs images of at least 13 x 13; the samples of this data set are "
            "784 features, no images; mlp and softmax take any");
}

TEST(Network, DrawsInitialParametersBySeedWithinTheBoundOfEachLayer) {
  const auto network = make_network("mlp", images(16));
  const std::vector<float> parameters = network->initial_parameters(3);
  ASSERT_EQ(parameters.size(), network->length());
  EXPECT_EQ(parameters, network->initial_parameters(3));
  EXPECT_NE(parameters, network->initial_parameters(4));
  auto layer_begin = parameters.begin();
  for (const Layer& layer : network->layers) {
    const auto layer_end =
        layer_begin + static_cast<std::ptrdiff_t>(layer.weights() + layer.biases());
    const float largest = std::max(*std::max_element(layer_begin, layer_end),
                                   -*std::min_element(layer_begin, layer_end));
    const double bound = 1 / std::sqrt(static_cast<double>(layer.fan_in()));
    EXPECT_LE(static_cast<double>(largest), bound);
    EXPECT_GE(static_cast<double>(largest), 0.95 * bound);
    layer_begin = layer_end;
  }
}

// This program is not linked with train_torch, and has registered nothing.
TEST(TrainingModels, WithoutLibTorchNameWhatIsMissing) {
  EXPECT_EQ(training_model_names(), std::vector<std::string>{"softmax"});
  const DataSet data = images(28);
  EXPECT_EQ(make_training_model("small-cnn", data).error().message,
            "model 'small-cnn' needs LibTorch, which this build lacks; it has: softmax");
  EXPECT_EQ(make_training_model("sofmax", data).error().message,
            "unknown model 'sofmax'; did you mean 'softmax'?");
}

}  // namespace
}  // namespace paceline
