// What `--data` names: MNIST in a folder, a table with a class per row, or synthetic classes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "paceline/data_set.hpp"
#include "paceline/expected.hpp"
#include "paceline/table_data.hpp"
#include "train_options.hpp"

namespace paceline::app {

struct TrainingData {
  std::string name;                    ///< "MNIST", "flowers.csv", "synthetic classes"
  std::unique_ptr<SplitData> samples;  ///< behind a pointer: models refer to it
  std::optional<TableLayout> table;    ///< if they come from one
};

Expected<TrainingData> load_training_data(const TrainOptions& options);

}  // namespace paceline::app
