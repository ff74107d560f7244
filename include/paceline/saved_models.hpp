// Trained models as one file: weights as safetensors (tensors "model_0", "model_1", ... of shape
// (d)), and in its metadata, as JSON, what they are models of. Nothing that is read is executed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/table_data.hpp"

namespace paceline {

struct SavedModels {
  std::string model;               ///< "mlp"
  std::string scheme;              ///< what they were trained under
  std::vector<std::string> names;  ///< shape (M)
  int features = 0;
  int height = 0, width = 0;  ///< 0 if the inputs are no images
  int classes = 0;
  std::optional<TableLayout> table;            ///< how rows become inputs; empty: no table
  std::vector<std::vector<float>> parameters;  ///< shape (M, d)
};

/// Written under another name first, so that a file of this name is whole.
Expected<void> write_models(const std::string& path, const SavedModels& models);

Expected<SavedModels> read_models(const std::string& path);

}  // namespace paceline
