// The shapes of the neural networks, without LibTorch: a network is a list of layers, and its
// parameters are one flat array, layer after layer, weights before biases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/data_set.hpp"
#include "paceline/expected.hpp"

namespace paceline {

/// A layer with parameters; ReLU follows every layer but the last.
struct Layer {
  int inputs = 0;     ///< channels of a convolution, else features
  int outputs = 0;    ///< likewise
  int kernel = 0;     ///< side of a convolution's kernel (stride 1, no padding); 0: linear layer
  bool pool = false;  ///< 2x2 max pooling follows

  /// Inputs of one output unit.
  int fan_in() const { return kernel == 0 ? inputs : inputs * kernel * kernel; }

  std::size_t weights() const {
    return static_cast<std::size_t>(outputs) * static_cast<std::size_t>(fan_in());
  }

  std::size_t biases() const { return static_cast<std::size_t>(outputs); }
};

struct Network {
  std::vector<Layer> layers;

  /// d, the number of parameters.
  std::size_t length() const;
  std::vector<float> initial_parameters(std::uint64_t seed) const;
};

/// "cnn", "mlp", "small-cnn".
std::vector<std::string> network_names();

/// The network of that name for inputs and classes as in `data`.
///
///   cnn        conv 1-8, 8-16, 16-4 (5x5), linear to 256, linear to the classes; MNIST: 269,998
///              parameters. Source: the MNIST network of the sequential gradient coding experiments
///   small-cnn  conv 1-8, 8-16 (5x5, each with 2x2 max pooling), linear; MNIST: 5,994. Ours
///   mlp        linear to 32, linear to the classes; MNIST: 25,450. Ours
///
/// @pre name is one of network_names(), else ContractViolation
/// @return an error if the network needs images, or larger ones
Expected<Network> make_network(const std::string& name, const DataSet& data);

}  // namespace paceline
