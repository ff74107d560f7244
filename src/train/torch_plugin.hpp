// What the plugin with the LibTorch networks offers to the program, under one C name.
#pragma once

#include <memory>
#include <string>

#include "paceline/training.hpp"

namespace paceline {

struct TorchPlugin {
  Expected<void> (*use_device)(const std::string& device);  ///< first
  Expected<std::unique_ptr<TrainingModel>> (*make)(const std::string& name, const DataSet& data);
  const char* version;  ///< of LibTorch, "1.13.1"
};

}  // namespace paceline

extern "C" const paceline::TorchPlugin kPacelineTorchPlugin;
