// paceline predict: what trained models, as an ensemble, say about the rows of a table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "paceline/metrics.hpp"
#include "paceline/saved_models.hpp"
#include "paceline/table_data.hpp"
#include "paceline/training.hpp"

namespace paceline::app {
namespace {

struct PredictOptions {
  std::string models;
  std::string data;
  std::string out;
};

/// The file itself, or the only one of a run's folder.
Expected<std::string> models_file(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("models-") && name.ends_with(".safetensors")) {
      found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return found.front();
  return invalid(
      found.empty()
          ? fmt::format("{} holds no models-1.safetensors; paceline train leaves one per scheme",
                        path)
          : fmt::format(
                "{} holds models of {} schemes; name one: {}", path, found.size(), found.front()));
}

/// A cell as CSV.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

struct Predictions {
  std::vector<float> mean;                ///< shape (rows, classes)
  std::vector<std::vector<int>> classes;  ///< shape (M, rows): what each model says
  std::vector<double> accuracy;           ///< shape (M), or empty without labels
};

std::vector<int> most_probable(const std::vector<float>& probabilities, std::size_t classes) {
  std::vector<int> best;
  for (auto row = probabilities.begin(); row != probabilities.end();
       row += static_cast<std::ptrdiff_t>(classes)) {
    const auto end = row + static_cast<std::ptrdiff_t>(classes);
    best.push_back(static_cast<int>(std::max_element(row, end) - row));
  }
  return best;
}

Expected<Predictions> predict(const SavedModels& models, const DataSet& rows) {
  auto model = make_training_model(models.model, rows);
  if (!model) return Unexpected(model.error());
  Predictions all;
  Ensemble ensemble;
  for (const std::vector<float>& parameters : models.parameters) {
    if (parameters.size() != (*model)->length()) {
      return invalid(fmt::format("a model has {} parameters; {} on this table has {}",
                                 parameters.size(),
                                 models.model,
                                 (*model)->length()));
    }
    std::vector<float> probabilities = (*model)->probabilities(parameters, rows);
    all.classes.push_back(most_probable(probabilities, static_cast<std::size_t>(models.classes)));
    if (!rows.labels.empty()) all.accuracy.push_back(accuracy_of(probabilities, rows));
    ensemble.add(std::move(probabilities));
  }
  all.mean = ensemble.mean();
  return all;
}

std::string to_csv(const SavedModels& models, const Predictions& all) {
  const auto classes = static_cast<std::size_t>(models.classes);
  const std::vector<int> best = most_probable(all.mean, classes);
  std::string text = fmt::format("row,{},probability,agreeing\n", quoted(models.table->label));
  for (std::size_t row = 0; row < best.size(); ++row) {
    const auto agreeing = std::count_if(all.classes.begin(),
                                        all.classes.end(),
                                        [&](const auto& one) { return one[row] == best[row]; });
    const auto winner = static_cast<std::size_t>(best[row]);
    text += fmt::format("{},{},{:.4f},{}\n",
                        row + 1,
                        quoted(models.table->classes[winner]),
                        all.mean[row * classes + winner],
                        agreeing);
  }
  return text;
}

Expected<void> run_predict(const PredictOptions& options) {
  const auto path = models_file(options.models);
  if (!path) return Unexpected(path.error());
  const auto models = read_models(*path);
  if (!models) return Unexpected(models.error());
  if (!models->table) {
    return invalid(
        fmt::format("{}: these models were not trained on a table; paceline train --data "
                    "FILE.csv --label COLUMN trains some",
                    *path));
  }
  std::ifstream file(options.data, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return invalid(fmt::format("cannot read '{}'", options.data));
  const auto rows = parse_rows(text, options.data, *models->table);
  if (!rows) return Unexpected(rows.error());
  const auto all = predict(*models, *rows);
  if (!all) return Unexpected(all.error());

  const std::string csv = to_csv(*models, *all);
  if (options.out.empty()) {
    fmt::print("{}", csv);
  } else if (auto written = write_text_file(options.out, csv); !written) {
    return written;
  }
  if (all->accuracy.empty()) return {};
  for (std::size_t m = 0; m < all->accuracy.size(); ++m) {
    fmt::print(stderr, "{}: {:.2f} % right\n", models->names[m], 100 * all->accuracy[m]);
  }
  fmt::print(stderr, "ensemble: {:.2f} % right\n", 100 * accuracy_of(all->mean, *rows));
  return {};
}

}  // namespace

void add_predict(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "predict", "Classify the rows of a CSV file by the models of a run, all of them together");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("models", options->models, "A run's folder, or its models-1.safetensors")
      ->required();
  command
      ->add_option("--data",
                   options->data,
                   "A CSV file with the columns of the training table; with the class, too, the "
                   "accuracy is printed")
      ->required();
  command->add_option("--out", options->out, "Where the predictions go, as CSV (default: here)");
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_predict(*options); }; });
}

}  // namespace paceline::app
