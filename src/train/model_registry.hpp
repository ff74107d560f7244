// The training models by name. A registry, since the LibTorch networks live in a target of their
// own, which the train layer must not need: whoever links it registers them by an explicit call.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "paceline/training.hpp"

namespace paceline {

using ModelFactory = std::function<Expected<std::unique_ptr<TrainingModel>>(const DataSet& data)>;

/// Adds a model, or replaces the one of that name. Safe to call from several threads.
void register_training_model(const std::string& name, ModelFactory factory);

}  // namespace paceline
