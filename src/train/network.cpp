#include "train/network.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "paceline/check.hpp"
#include "paceline/random.hpp"
#include "train/initial_parameters.hpp"

namespace paceline {
namespace {

struct Convolution {
  int outputs;
  bool pool;
};

struct Architecture {
  const char* name;
  std::vector<Convolution> convolutions;
  std::vector<int> hidden;  ///< outputs of the linear layers before the last
};

constexpr int kKernel = 5;

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all{
      {"cnn", {{8, false}, {16, false}, {4, false}}, {256}},
      {"mlp", {}, {32}},
      {"small-cnn", {{8, true}, {16, true}}, {}},
  };
  return all;
}

/// Side of the feature maps after all convolutions; below 1 if the image is too small.
int side_after(std::span<const Convolution> convolutions, int side) {
  for (const Convolution& convolution : convolutions) {
    side -= kKernel - 1;
    if (convolution.pool) side = side > 0 ? side / 2 : 0;
  }
  return side;
}

int smallest_side(std::span<const Convolution> convolutions) {
  int side = 1;
  while (side_after(convolutions, side) < 1) ++side;
  return side;
}

}  // namespace

std::size_t Network::length() const {
  std::size_t length = 0;
  for (const Layer& layer : layers) length += layer.weights() + layer.biases();
  return length;
}

std::vector<float> Network::initial_parameters(std::uint64_t seed) const {
  std::vector<float> parameters;
  parameters.reserve(length());
  RandomStream stream(seed, "initial-parameters");
  for (const Layer& layer : layers) {
    append_uniform(layer.weights() + layer.biases(), layer.fan_in(), stream, parameters);
  }
  return parameters;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) names.emplace_back(architecture.name);
  return names;
}

Expected<Network> make_network(const std::string& name, const DataSet& data) {
  const Architecture* wanted = nullptr;
  for (const Architecture& architecture : architectures()) {
    if (architecture.name == name) wanted = &architecture;
  }
  PACELINE_CHECK(wanted != nullptr);

  Network network;
  int features = data.features;
  if (!wanted->convolutions.empty()) {
    const int height = side_after(wanted->convolutions, data.height);
    const int width = side_after(wanted->convolutions, data.width);
    if (height < 1 || width < 1) {
      const int side = smallest_side(wanted->convolutions);
      return invalid(
          fmt::format("model '{}' needs images of at least {} x {}; the samples of this data set "
                      "are {}; mlp and "
                      "softmax take any",
                      name,
                      side,
                      side,
                      data.height == 0 ? fmt::format("{} features, no images", data.features)
                                       : fmt::format("{} x {}", data.height, data.width)));
    }
    int channels = 1;
    for (const Convolution& convolution : wanted->convolutions) {
      network.layers.push_back({.inputs = channels,
                                .outputs = convolution.outputs,
                                .kernel = kKernel,
                                .pool = convolution.pool});
      channels = convolution.outputs;
    }
    features = channels * height * width;
  }
  for (const int hidden : wanted->hidden) {
    network.layers.push_back({.inputs = features, .outputs = hidden});
    features = hidden;
  }
  network.layers.push_back({.inputs = features, .outputs = data.classes});
  return network;
}

}  // namespace paceline
