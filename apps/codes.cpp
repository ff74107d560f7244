// paceline codes: every gradient code, which parameters there are near the ones asked for, and a
// table of them all, measured.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "machine.hpp"
#include "paceline/code_catalog.hpp"
#include "paceline/code_measure.hpp"

namespace paceline::app {
namespace {

struct CodesOptions {
  int workers = 0;
  int stragglers = 1;
  int replication = 0;
  std::uint64_t seed = 1;
  bool measure = false;
  bool json = false;
};

nlohmann::ordered_json to_json(const CodeDescription& code) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const CodeParameter& parameter : code.parameters) {
    parameters.push_back(
        {{"name", parameter.name}, {"allowed", parameter.allowed}, {"meaning", parameter.meaning}});
  }
  return {{"name", code.name},
          {"summary", code.summary},
          {"exact", code.exact},
          {"parameters", parameters},
          {"load", code.load},
          {"source", code.source}};
}

/// A code for the number of workers nearest to the one asked for at which it exists.
struct Near {
  std::string text;  ///< "graph:s=6,r=6"
  int workers = 0;
  Expected<GradientCode> code;
};

Near nearest(const CodeDescription& description,
             int workers,
             int stragglers,
             const CodesOptions& options,
             bool keep_promise = true) {
  const int n = nearest_workers(description.name, workers, stragglers);
  const auto make = [&](const std::string& text) {
    if (n == 0) {
      return Near{text, n, invalid(fmt::format("there is none for {} stragglers", stragglers))};
    }
    const CodeContext context = {.workers = n, .seed = options.seed, .keep_promise = keep_promise};
    return Near{text, n, make_code(text, context)};
  };
  const std::string text = fmt::format("{}:s={}", description.name, stragglers);
  const bool replicated = std::ranges::find(description.parameters, "r", &CodeParameter::name) !=
                          description.parameters.end();
  if (options.replication > 0 && replicated) {
    Near wanted = make(fmt::format("{},r={}", text, options.replication));
    if (wanted.code) return wanted;
  }
  return make(text);
}

void print_descriptions() {
  for (const CodeDescription& code : code_catalog()) {
    fmt::print("{}  ({})\n  {}\n  load {}\n",
               code.name,
               code.exact ? "exact" : "approximate",
               code.summary,
               code.load);
    for (const CodeParameter& parameter : code.parameters) {
      fmt::print("    {:<12} {:<34} {}\n", parameter.name, parameter.allowed, parameter.meaning);
    }
    fmt::print("  source   {}\n\n", code.source);
  }
}

void print_near(const CodesOptions& options) {
  fmt::print("{:<22}  {:>4}  {:>6}  {}\n", "code", "n", "load", "as --scheme");
  for (const CodeDescription& code : code_catalog()) {
    const Near near = nearest(code, options.workers, options.stragglers, options);
    if (!near.code) {
      fmt::print("{:<22}  {:>4}  {:>6}  {}\n", code.name, "-", "-", near.code.error().message);
      continue;
    }
    const std::string parameters = near.text.substr(near.text.find(':') + 1);
    fmt::print("{:<22}  {:>4}  {:>6.4f}  gc:code={},{}\n",
               code.name,
               near.workers,
               near.code->load,
               code.name,
               parameters);
  }
}

/// "mean / attacked", or a dash where the code decodes no such set.
std::string residual_cell(const GradientCode& code, int stragglers, std::uint64_t seed) {
  if (stragglers > code.tolerance) return "-";
  const CodeMeasurement measured = measure_code(code, stragglers, seed);
  if (code.exact) return "0";
  return fmt::format("{:.2g} / {:.2g}", measured.mean_residual, measured.attacked_residual);
}

/// Two digits, more where they stand before the point.
std::string microseconds_cell(Seconds time) {
  const double microseconds = 1e6 * time.count();
  return microseconds < 99.5 ? fmt::format("{:.2g}", microseconds)
                             : fmt::format("{:.0f}", microseconds);
}

/// One Markdown row per code. Exact codes are built for 10 % of stragglers, approximate ones for
/// 30 %, which changes only when they answer. A star marks codes that are refused for float
/// messages, since their error breaks the promise.
void print_measured(const CodesOptions& options) {
  fmt::print(
      "| code | n | k | load | tolerance | 10 % | 20 % | 30 % | decode, us | float32 error |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (const CodeDescription& description : code_catalog()) {
    const double most = description.exact ? 0.1 : 0.3;
    const auto share = [&](double part, int workers) { return static_cast<int>(part * workers); };
    const int n = nearest_workers(description.name, options.workers, share(most, options.workers));
    if (n == 0) {
      fmt::print("| `{}` | | | none for {:.0f} % of stragglers |\n", description.name, 100 * most);
      continue;
    }
    const int s = share(most, n);
    Near near = nearest(description, n, s, options);
    const bool refused = !near.code.has_value();
    if (refused) near = nearest(description, n, s, options, false);
    if (!near.code) {
      fmt::print("| `{}` | {} | | {} |\n", near.text, n, near.code.error().message);
      continue;
    }
    const GradientCode& code = *near.code;
    const int tenth = std::min(share(0.1, n), code.tolerance);
    const CodeMeasurement measured = measure_code(code, tenth, options.seed, steady_time);
    fmt::print("| `{}`{} | {} | {} | {:.3g}{} | {} | {} | {} | {} | {} | {:.1e} |\n",
               near.text,
               refused ? " *" : "",
               near.workers,
               code.chunks,
               code.load,
               code.backward_passes == 2 ? " x2" : "",
               code.exact ? std::to_string(code.tolerance) : "any",
               residual_cell(code, tenth, options.seed),
               residual_cell(code, share(0.2, n), options.seed),
               residual_cell(code, share(0.3, n), options.seed),
               microseconds_cell(measured.decode_time),
               measured.error.float32);
  }
}

Expected<void> run_codes(const CodesOptions& options) {
  if (options.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const CodeDescription& code : code_catalog()) {
      nlohmann::ordered_json entry = to_json(code);
      if (options.workers > 0) {
        const Near near = nearest(code, options.workers, options.stragglers, options);
        entry["nearest_workers"] = near.workers;
        entry["text"] = near.text;
        if (!near.code) entry["refused"] = near.code.error().message;
      }
      all.push_back(std::move(entry));
    }
    fmt::print("{}\n", all.dump(2));
    return {};
  }
  if (options.measure && options.workers == 0) {
    return invalid("--measure needs --workers");
  }
  if (options.workers > 0 && options.stragglers >= options.workers) {
    return invalid(fmt::format("--stragglers {} of {} workers: at most {} are allowed",
                               options.stragglers,
                               options.workers,
                               options.workers - 1));
  }
  if (options.measure) {
    print_measured(options);
  } else if (options.workers > 0) {
    print_near(options);
  } else {
    print_descriptions();
  }
  return {};
}

}  // namespace

void add_codes(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "codes", "List every gradient code; with --workers, what there is near that size");
  auto options = std::make_shared<CodesOptions>();
  command->add_option("--workers", options->workers, "n")->check(CLI::Range(1, 10000));
  command->add_option("--stragglers", options->stragglers, "s")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--replication",
                   options->replication,
                   "r: workers that hold a chunk, for the codes that can choose")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "Seed of random codes")->capture_default_str();
  command->add_flag("--measure",
                    options->measure,
                    "A Markdown table: residual (mean / under attack) with 10, 20 and 30 % of "
                    "stragglers, decode time, error");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_codes(*options); }; });
}

}  // namespace paceline::app
