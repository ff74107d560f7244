// Random initial parameters of one layer, as PyTorch draws them for linear and convolution layers.
#pragma once

#include <cmath>
#include <vector>

#include "paceline/random.hpp"

namespace paceline {

/// Appends `count` numbers, uniform in (-1/sqrt(fan_in), 1/sqrt(fan_in)): PyTorch's default for
/// both the weights and the biases of a layer whose units have fan_in inputs.
inline void append_uniform(std::size_t count,
                           int fan_in,
                           RandomStream& stream,
                           std::vector<float>& parameters) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  for (std::size_t i = 0; i < count; ++i) {
    parameters.push_back(static_cast<float>(bound * (2 * stream.uniform() - 1)));
  }
}

}  // namespace paceline
