// What `paceline train` makes of the same options: small-cnn networks on MNIST, with the same
// initial parameters, batches and optimizer, for trainers that are compared with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "paceline/training.hpp"

namespace paceline::peer {

/// Jobs are dealt out as by the program: job t is update t div M of model t mod M.
struct Training {
  std::unique_ptr<SplitData> data;  ///< behind a pointer: the model refers to it
  std::unique_ptr<TrainingModel> model;
  std::unique_ptr<BatchSampler> sampler;
  int models = 1;                              ///< M
  int updates = 1;                             ///< of each model
  int batch = 1;                               ///< samples per update
  std::vector<std::vector<float>> parameters;  ///< shape (M, d), at the start
};

/// @param arguments  DATA MODELS UPDATES BATCH SEED
Expected<Training> make_training(const std::vector<std::string>& arguments);

/// adam:lr=0.01, the program's default.
std::unique_ptr<Optimizer> make_peer_optimizer();

/// Says what is wrong and returns the program's exit code.
int complain(const std::string& message);

}  // namespace paceline::peer
