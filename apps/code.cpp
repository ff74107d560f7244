// paceline code: what one gradient code is worth, measured.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"
#include "machine.hpp"
#include "paceline/code_catalog.hpp"
#include "paceline/code_measure.hpp"
#include "paceline/metrics.hpp"

namespace paceline::app {
namespace {

struct CodeOptions {
  std::string text;
  int workers = 0;
  int stragglers = 0;
  std::uint64_t seed = 1;
  bool promise = true;
  bool json = false;
  std::string file;
};

nlohmann::ordered_json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

nlohmann::ordered_json to_json(const GradientCode& code, const CodeMeasurement& measured) {
  return {{"code", code.name},
          {"exact", code.exact},
          {"workers", code.workers()},
          {"chunks", code.chunks},
          {"tolerance", code.tolerance},
          {"load", code.load},
          {"backward_passes", code.backward_passes},
          {"stragglers", measured.stragglers},
          {"sets", measured.sets},
          {"all_sets", measured.all_sets},
          {"decoded", measured.decoded},
          {"mean_residual", measured.mean_residual},
          {"worst_residual", measured.worst_residual},
          {"attacked_residual", measured.attacked_residual},
          {"median_amplification", measured.median_amplification},
          {"worst_amplification", measured.worst_amplification},
          {"condition", number(measured.condition)},
          {"error_float64", measured.error.float64},
          {"error_float32", measured.error.float32},
          {"error_float16", measured.error.float16},
          {"error_bfloat16", measured.error.bfloat16},
          {"decode_seconds", measured.decode_time.count()}};
}

void print_text(const GradientCode& code, const CodeMeasurement& measured) {
  constexpr int kDrawnWorkers = 40;
  constexpr int kDrawnChunks = 100;
  fmt::print("{}: {}, {} workers, {} chunks\n",
             code.name,
             code.exact ? "exact" : "approximate",
             code.workers(),
             code.chunks);
  if (code.workers() <= kDrawnWorkers && code.chunks <= kDrawnChunks) {
    fmt::print("\n{}\n", drawing(code));
  }
  fmt::print("load            {:.4g} of the data{}\n",
             code.load,
             code.backward_passes == 2 ? ", two backward passes" : "");
  fmt::print("storage         {:.4g} of the data\n", code.load);
  fmt::print("tolerance       {} stragglers\n", code.tolerance);
  fmt::print("\nwith {} stragglers, {} sets ({}):\n",
             measured.stragglers,
             measured.sets,
             measured.all_sets ? "all" : "random");
  fmt::print("decoded         {:.4g} %\n", 100 * measured.decoded);
  fmt::print("residual        mean {:.3g}, worst {:.3g}, under attack {:.3g}\n",
             measured.mean_residual,
             measured.worst_residual,
             measured.attacked_residual);
  fmt::print("amplification   median {:.3g}, worst {:.3g}\n",
             measured.median_amplification,
             measured.worst_amplification);
  fmt::print("condition       {:.3g}\n", measured.condition);
  fmt::print("decode error    float64 {:.1e}, float32 {:.1e}, float16 {:.1e}, bfloat16 {:.1e}\n",
             measured.error.float64,
             measured.error.float32,
             measured.error.float16,
             measured.error.bfloat16);
  fmt::print("decode time     {:.3g} us for a new set\n", 1e6 * measured.decode_time.count());
}

Expected<void> run_code(const CodeOptions& options) {
  const char* separator = options.text.find(':') == std::string::npos ? ":" : ",";
  const std::string text = fmt::format("{}{}s={}", options.text, separator, options.stragglers);
  auto code = make_code(
      text, {.workers = options.workers, .seed = options.seed, .keep_promise = options.promise});
  if (!code) return Unexpected(code.error());
  const CodeMeasurement measured =
      measure_code(*code, options.stragglers, options.seed, steady_time);
  if (!options.file.empty()) {
    if (auto written = write_text_file(options.file, matrix_market(*code)); !written) {
      return written;
    }
  }
  if (options.json) {
    fmt::print("{}\n", to_json(*code, measured).dump(2));
  } else {
    print_text(*code, measured);
  }
  return {};
}

}  // namespace

void add_code(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "code", "Measure a gradient code: what it leaves, magnifies and costs");
  auto options = std::make_shared<CodeOptions>();
  command
      ->add_option("code",
                   options->text,
                   "The code, e.g. graph or graph:r=4,graph=circulant (list: paceline codes)")
      ->required();
  command->add_option("--workers", options->workers, "n")->required()->check(CLI::Range(1, 10000));
  command->add_option("--stragglers", options->stragglers, "s: workers that do not answer")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->seed, "Seed of the code and of the sets tried")
      ->capture_default_str();
  command->add_flag("!--no-promise",
                    options->promise,
                    "Measure exact codes too whose error breaks the promise for float messages");
  command->add_option("--export", options->file, "Write G as a Matrix Market file");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_code(*options); }; });
}

}  // namespace paceline::app
