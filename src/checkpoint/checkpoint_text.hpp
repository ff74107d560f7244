// A checkpoint as text and tensors: small things in JSON, numbers in bulk as tensors.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "checkpoint/safetensors.hpp"
#include "paceline/checkpoint.hpp"

namespace paceline {

/// What a checkpoint is written as. Tensors refer to it and to the checkpoint.
struct PackedCheckpoint {
  std::string text;                 ///< state.json
  std::vector<TensorView> weights;  ///< weights.safetensors: models and optimizers
  std::vector<TensorView> flight;   ///< flight.safetensors: events, and jobs that are not decoded

  std::list<std::vector<int>> integers;    ///< where some tensors lie
  std::list<std::vector<double>> doubles;  ///< the same
};

void pack(const Checkpoint& checkpoint, PackedCheckpoint& out);

/// @return an error of code kFailed that names what is missing or wrong
Expected<Checkpoint> unpack(const std::string& text, const Tensors& weights, const Tensors& flight);

}  // namespace paceline
