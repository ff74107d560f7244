// paceline delays: what delay profiles are like, and which delay models are like them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cluster_text.hpp"
#include "command.hpp"
#include "delay_options.hpp"

namespace paceline::app {
namespace {

struct DelaysOptions {
  std::vector<std::string> files;
  ImportTexts import;
  double mu = 1;
  bool json = false;
};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string title(const DelaysOptions& options) {
  if (options.files.size() == 1) return file_name(options.files.front());
  return fmt::format("{} files, the lowest load", options.files.size());
}

nlohmann::ordered_json to_json(const Straggling& straggling) {
  nlohmann::ordered_json json = {{"share", straggling.share}, {"again", nullptr}};
  if (straggling.again) json["again"] = *straggling.again;
  json["bursts"] = straggling.bursts;
  return json;
}

nlohmann::ordered_json to_json(const Description& found, const DelaysOptions& options) {
  const DelayProfile& base = found.cluster.base;
  nlohmann::ordered_json json = {{"files", options.files},
                                 {"rounds", base.rounds},
                                 {"workers", base.workers},
                                 {"load", base.load},
                                 {"slope", nullptr},
                                 {"intercept", nullptr},
                                 {"mu", options.mu},
                                 {"warnings", base.warnings},
                                 {"spread", found.spread}};
  if (found.cluster.line) {
    json["slope"] = found.cluster.line->slope;
    json["intercept"] = found.cluster.line->intercept;
  }
  json["quantiles"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < kQuantiles.size(); ++k) {
    json["quantiles"].push_back({{"q", kQuantiles[k]}, {"seconds", found.quantiles[k]}});
  }
  json["stragglers"] = to_json(found.straggling);
  json["stragglers"]["usual"] = found.straggling.usual_stragglers();
  json["models"] = nlohmann::ordered_json::array();
  for (const DelayFit& fit : found.fits) {
    json["models"].push_back({{"model", fit.model},
                              {"parameters", fit.parameters},
                              {"log_likelihood", fit.log_likelihood},
                              {"aic", fit.aic},
                              {"distance", fit.distance},
                              {"stragglers", to_json(fit.straggling)}});
  }
  return json;
}

Expected<void> run_delays(const DelaysOptions& options) {
  auto cluster = read_cluster(options.files, options.import);
  if (!cluster) return Unexpected(cluster.error());
  const auto found = describe(std::move(*cluster), options.mu);
  if (!found) return Unexpected(found.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*found, options).dump(2));
  } else {
    print_description(*found, title(options));
  }
  return {};
}

}  // namespace

void add_delays(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "delays", "What delay profiles are like, and delay models that are like them");
  auto options = std::make_shared<DelaysOptions>();
  command->add_option("files", options->files, "Delay profiles of one cluster, one per load")
      ->take_all()
      ->required();
  add_import_options(*command, options->import);
  command->add_option("--mu", options->mu, "Stragglers take over 1+mu times the fastest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_delays(*options); }; });
}

}  // namespace paceline::app
