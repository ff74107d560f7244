#include "trained_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paceline/saved_models.hpp"
#include "paceline/training.hpp"

namespace paceline::app {

std::vector<std::string> model_names(const TrainOptions& options) {
  const auto& optimizers = options.optimizers;
  std::vector<std::string> names;
  for (int m = 0; m < options.models; ++m) {
    names.push_back(fmt::format("{} {}", options.model, m));
    if (optimizers.size() > 1) {
      names.back() += ", " + optimizers[static_cast<std::size_t>(m) % optimizers.size()];
    }
  }
  return names;
}

std::string accuracies_text(const RunReport& report) {
  std::size_t width = 0;
  for (const std::string& name : report.models) width = std::max(width, name.size());
  std::string text = "accuracy on the test set, %, under the schemes in turn\n";
  for (std::size_t m = 0; m < report.models.size(); ++m) {
    text += fmt::format("{:<{}}", report.models[m], width);
    for (const SchemeRun& run : report.schemes) {
      if (m < run.accuracy.size()) text += fmt::format("  {:6.2f}", 100 * run.accuracy[m]);
    }
    text += '\n';
  }
  return text;
}

Expected<void> keep_models(const ModelBank& bank,
                           const Setup& setup,
                           const std::string& path,
                           SchemeRun& run) {
  const DataSet& train = setup.data.samples->train;
  const DataSet& test = setup.data.samples->test;
  SavedModels saved{.model = setup.options.model,
                    .scheme = run.label,
                    .names = model_names(setup.options),
                    .features = train.features,
                    .height = train.height,
                    .width = train.width,
                    .classes = train.classes,
                    .table = setup.data.table,
                    .parameters = {}};
  Ensemble ensemble;
  for (int m = 0; m < setup.options.models; ++m) {
    const Parameters parameters = bank.parameters(ModelId{m});
    std::vector<float> probabilities = setup.model->probabilities(*parameters, test);
    run.accuracy.push_back(accuracy_of(probabilities, test));
    ensemble.add(std::move(probabilities));
    saved.parameters.push_back(*parameters);
  }
  if (setup.options.models > 1) run.ensemble_accuracy = accuracy_of(ensemble.mean(), test);
  return write_models(path, saved);
}

}  // namespace paceline::app
