// paceline delays: what delay profiles are like, and which delay models are like them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "delay_options.hpp"
#include "paceline/delay_fit.hpp"

namespace paceline::app {
namespace {

struct DelaysOptions {
  std::vector<std::string> files;
  ImportTexts import;
  double mu = 1;
  bool json = false;
};

struct Description {
  MeasuredCluster cluster;
  std::vector<double> quantiles;  ///< shape (kQuantiles)
  Straggling straggling;
  double spread = 0;
  std::vector<DelayFit> fits;
};

const std::vector<double> kQuantiles = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
const std::vector<std::string> kQuantileNames = {
    "least", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "greatest"};

/// Bursts of 1, 2, ... rounds that have a column of their own; the last one is "and more".
constexpr std::size_t kBurstColumns = 6;

Expected<Description> describe(const DelaysOptions& options) {
  auto cluster = read_cluster(options.files, options.import);
  if (!cluster) return Unexpected(cluster.error());
  Description found;
  found.cluster = std::move(*cluster);
  const DelayProfile& base = found.cluster.base;
  found.quantiles = quantiles(base, kQuantiles);
  found.straggling = straggling(base, options.mu);
  found.spread = worker_spread(base);
  const double slope = found.cluster.line ? found.cluster.line->slope : 0;
  const auto zero = at_zero_load(base, slope);
  if (!zero) return Unexpected(zero.error());
  found.fits = fit_delay_models(*zero, options.mu, slope);
  return found;
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "-";
}

void print_quantiles(const Description& found) {
  fmt::print("\nresponse time, s\n ");
  for (const std::string& name : kQuantileNames) fmt::print(" {:>9}", name);
  fmt::print("\n ");
  for (const double seconds : found.quantiles) fmt::print(" {:>9.4g}", seconds);
  fmt::print("\n");
}

void print_stragglers(const Description& found, double mu) {
  const Straggling& straggling = found.straggling;
  fmt::print("\nstragglers: over {:.4g} times the fastest of their round\n", 1 + mu);
  fmt::print("  share            {}\n", percent(straggling.share));
  fmt::print("  straggle again   {} of those that straggled in the round before\n",
             percent(straggling.again));
  std::vector<int> bursts(kBurstColumns, 0);
  for (std::size_t k = 0; k < straggling.bursts.size(); ++k) {
    bursts[std::min(k, kBurstColumns - 1)] += straggling.bursts[k];
  }
  fmt::print("  bursts, rounds  ");
  for (std::size_t k = 0; k < kBurstColumns; ++k) {
    fmt::print(" {:>7}", fmt::format("{}{}", k + 1, k + 1 == kBurstColumns ? "+" : ""));
  }
  fmt::print("\n  how many        ");
  for (const int count : bursts) fmt::print(" {:>7}", count);
  const std::vector<int> usual = straggling.usual_stragglers();
  constexpr std::size_t shown = 16;
  if (usual.empty()) {
    fmt::print("\n  usual ones       none\n");
  } else if (usual.size() <= shown) {
    fmt::print("\n  usual ones       workers {} (in over half the rounds)\n",
               fmt::join(usual, ", "));
  } else {
    fmt::print("\n  usual ones       {} of the workers (in over half the rounds)\n", usual.size());
  }
}

void print_fits(const Description& found) {
  if (found.fits.empty()) {
    fmt::print("\nall times are equal: constant:base={:.6g}\n", found.cluster.base.seconds.front());
    return;
  }
  fmt::print("\n{:>10}  {:>8}  {:>10}  {:>8}  model at zero load (for --delays)\n",
             "AIC",
             "distance",
             "stragglers",
             "again");
  fmt::print("{:>10}  {:>8}  {:>10}  {:>8}  measured\n",
             "-",
             "-",
             percent(found.straggling.share),
             percent(found.straggling.again));
  for (const DelayFit& fit : found.fits) {
    fmt::print("{:>10.1f}  {:>8.4f}  {:>10}  {:>8}  {}\n",
               fit.aic,
               fit.distance,
               percent(fit.straggling.share),
               percent(fit.straggling.again),
               fit.model);
  }
  fmt::print("\ndistance: Kolmogorov-Smirnov; stragglers, again: of draws of the model\n");
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void print_text(const Description& found, const DelaysOptions& options) {
  const DelayProfile& base = found.cluster.base;
  if (options.files.size() == 1) {
    fmt::print("{}: ", file_name(options.files.front()));
  } else {
    fmt::print("{} files, the lowest load: ", options.files.size());
  }
  fmt::print("{} rounds, {} workers, load {:.4g}\n", base.rounds, base.workers, base.load);
  if (found.cluster.line) {
    fmt::print("{} loads: {:.6g} s + {:.6g} s per unit of load\n",
               found.cluster.files.size(),
               found.cluster.line->intercept,
               found.cluster.line->slope);
  }
  print_quantiles(found);
  fmt::print("speeds of the workers differ: spread {:.3f}\n", found.spread);
  print_stragglers(found, options.mu);
  print_fits(found);
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
  const auto found = describe(options);
  if (!found) return Unexpected(found.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*found, options).dump(2));
  } else {
    print_text(*found, options);
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
