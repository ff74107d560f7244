#include "training_data.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace paceline::app {
namespace {

SplitData synthetic_classes(std::uint64_t seed) {
  constexpr int kTrain = 8192;
  constexpr int kTest = 2048;
  const DataSet all = make_synthetic_classes(kTrain + kTest, 64, 10, seed);
  return {slice(all, 0, kTrain), slice(all, kTrain, kTest)};
}

/// Options that only tables have.
Expected<void> check_no_table(const TrainOptions& options) {
  const TableFlags& table = options.table;
  for (const auto& [name, given] : {std::pair{"label", !table.label.empty()},
                                    std::pair{"ignore", !table.ignored.empty()},
                                    std::pair{"test", !table.test.empty()}}) {
    if (given) {
      return invalid(
          fmt::format("--{} is for tables; --data {} is none (a CSV file is)", name, options.data));
    }
  }
  return {};
}

}  // namespace

Expected<TrainingData> load_training_data(const TrainOptions& options) {
  const auto own = [](SplitData samples) {
    return std::make_unique<SplitData>(std::move(samples));
  };
  const bool file =
      std::filesystem::is_regular_file(options.data) || options.data.ends_with(".csv");
  if (!file) {
    if (auto good = check_no_table(options); !good) return Unexpected(good.error());
    if (options.data == "synthetic") {
      return TrainingData{"synthetic classes", own(synthetic_classes(options.seed)), {}};
    }
    auto mnist = read_mnist(options.data);
    if (!mnist) return Unexpected(mnist.error());
    return TrainingData{"MNIST", own(*std::move(mnist)), {}};
  }
  const TableFlags& flags = options.table;
  auto table = read_table(options.data,
                          {.label = flags.label,
                           .ignored = flags.ignored,
                           .fills_missing = flags.missing == "mean",
                           .test_share = flags.test_share,
                           .seed = options.seed},
                          flags.test);
  if (!table) return Unexpected(table.error());
  return TrainingData{std::filesystem::path(options.data).filename().string(),
                      own(std::move(table->data)),
                      std::move(table->layout)};
}

}  // namespace paceline::app
