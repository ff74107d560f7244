// paceline bounds: what the schemes cost that survive a bursty straggler model, and what any must.
#include "paceline/bounds.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace paceline::app {
namespace {

struct BoundsOptions {
  int workers = 0;
  std::vector<int> B = {1};
  std::vector<int> W = {2};
  std::vector<int> lambda;
  bool json = false;
};

std::vector<int> usual_lambdas(int workers) {
  std::vector<int> values = {1, workers / 16, workers / 8, workers / 4, workers / 2, workers - 1};
  std::erase_if(values, [](int value) { return value < 1; });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// All combinations with B < W; an error if there is none, or of the first that is not allowed.
Expected<std::vector<BurstyBounds>> all_bounds(const BoundsOptions& options) {
  const std::vector<int> lambdas =
      options.lambda.empty() ? usual_lambdas(options.workers) : options.lambda;
  std::vector<BurstyBounds> all;
  const bool one = options.B.size() * options.W.size() == 1;
  for (const int B : options.B) {
    for (const int W : options.W) {
      if (B >= W && !one) continue;
      for (const int lambda : lambdas) {
        auto bounds = bursty_bounds(options.workers, B, W, lambda);
        if (!bounds) return Unexpected(bounds.error());
        all.push_back(std::move(*bounds));
      }
    }
  }
  if (all.empty()) return invalid("no combination of --B, --W and --lambda has B < W");
  return all;
}

void print_table(const std::vector<BurstyBounds>& all, int workers) {
  fmt::print("{} workers; load: share of the data per worker and round\n\n", workers);
  std::size_t width = 6;
  for (const BurstyBounds& bounds : all) {
    for (const SchemeCosts& costs : bounds.schemes) width = std::max(width, costs.scheme.size());
  }
  fmt::print("{:>3}  {:>3}  {:>6}  {:<{}}  {:>12}  {:>10}  {:>7}  {:>10}  {:>8}  {:>12}  {:>7}\n",
             "B",
             "W",
             "lambda",
             "scheme",
             width,
             "load",
             "decimal",
             "delay T",
             "storage",
             "messages",
             "bound",
             "x bound");
  for (const BurstyBounds& bounds : all) {
    for (const SchemeCosts& costs : bounds.schemes) {
      fmt::print(
          "{:>3}  {:>3}  {:>6}  {:<{}}  {:>12}  {:>10.7f}  {:>7}  {:>10.7f}  {:>8}  {:>12}  "
          "{:>7.4f}\n",
          bounds.B,
          bounds.W,
          bounds.lambda,
          costs.scheme,
          width,
          costs.load.text(),
          costs.load.value(),
          costs.decode_delay,
          costs.storage.value(),
          costs.messages_per_round,
          bounds.bound.text(),
          costs.gap.value());
    }
  }
  fmt::print(
      "\nbound: the least load that survives every such pattern; messages: per worker and round\n");
}

nlohmann::ordered_json to_json(const Rational& value) {
  return {{"fraction", value.text()}, {"value", value.value()}};
}

nlohmann::ordered_json to_json(const std::vector<BurstyBounds>& all, int workers) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const BurstyBounds& bounds : all) {
    for (const SchemeCosts& costs : bounds.schemes) {
      rows.push_back({{"workers", workers},
                      {"B", bounds.B},
                      {"W", bounds.W},
                      {"lambda", bounds.lambda},
                      {"scheme", costs.scheme},
                      {"load", to_json(costs.load)},
                      {"decode_delay", costs.decode_delay},
                      {"storage", to_json(costs.storage)},
                      {"messages_per_round", costs.messages_per_round},
                      {"bound", to_json(bounds.bound)},
                      {"gap", to_json(costs.gap)}});
    }
  }
  return rows;
}

Expected<void> run_bounds(const BoundsOptions& options) {
  const auto all = all_bounds(options);
  if (!all) return Unexpected(all.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*all, options.workers).dump(2));
  } else {
    print_table(*all, options.workers);
  }
  return {};
}

}  // namespace

void add_bounds(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "bounds", "Loads of the schemes that survive a straggler model, and lower bounds");
  auto options = std::make_shared<BoundsOptions>();
  command->add_option("--workers", options->workers, "n")->required();
  const auto list = [&](const char* name, std::vector<int>& values, const char* meaning) {
    return command->add_option(name, values, meaning)->delimiter(',')->take_all();
  };
  list("--B", options->B, "Rounds a burst spans at most, e.g. 1,2")->capture_default_str();
  list("--W", options->W, "Rounds of the window, e.g. 2,3,5; above B")->capture_default_str();
  list("--lambda",
       options->lambda,
       "Distinct stragglers per window (default: 1, n/16, n/8, n/4, n/2, n-1)");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_bounds(*options); }; });
}

}  // namespace paceline::app
