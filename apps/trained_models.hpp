// What a run leaves of its models: how good they are, each and together, and their weights.
#pragma once

#include <string>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/model_bank.hpp"
#include "paceline/run_report.hpp"
#include "train_setup.hpp"

namespace paceline::app {

/// "mlp 0", with its optimizer where models have different ones; shape (M).
std::vector<std::string> model_names(const TrainOptions& options);

/// The accuracy of every model under every scheme, as lines: what a sweep is made for.
std::string accuracies_text(const RunReport& report);

/// Tests the models, which `run` gets, and writes them to `path`.
Expected<void> keep_models(const ModelBank& bank,
                           const Setup& setup,
                           const std::string& path,
                           SchemeRun& run);

}  // namespace paceline::app
