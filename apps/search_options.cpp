#include "search_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "configuration.hpp"
#include "interrupt.hpp"
#include "paceline/parameters.hpp"

namespace paceline::app {
namespace {

constexpr int kModelRounds = 1000;  // a delay model is recorded for so many rounds first

/// "all", a fraction below 1, or chunks of 1/n of the data.
Expected<double> storage_of(const std::string& text, int workers) {
  if (text == "all") return 1.0;
  const std::optional<double> value = to_number(text);
  if (!value || !(*value > 0)) {
    return invalid(
        fmt::format("--storage {} is not allowed; all, chunks of 1/n of the data per worker (1 ... "
                    "{}), or a fraction of the data below 1",
                    text,
                    workers));
  }
  const double fraction = *value < 1 ? *value : *value / workers;
  if (fraction < 1.0 / workers || fraction > 1) {
    return invalid(
        fmt::format("--storage {} is {:.4g} of the data; {} workers need at least 1/{} "
                    "each and at most all of it",
                    text,
                    fraction,
                    workers,
                    workers));
  }
  return fraction;
}

Expected<void> set_bundling(const std::string& text, int max_delay, SearchSetup& setup) {
  setup.fewest_jobs_per_round = 1;
  setup.most_jobs_per_round = max_delay + 1;
  if (text == "auto") return {};
  const std::optional<double> value = to_number(text);
  const int m = value ? static_cast<int>(*value) : 0;
  if (!value || m != *value || m < 1 || m > max_delay + 1) {
    return invalid(
        fmt::format("--jobs-per-round {} is not allowed; auto, or 1 ... {} (--max-delay {} lets "
                    "{} jobs be in flight)",
                    text,
                    max_delay + 1,
                    max_delay,
                    max_delay + 1));
  }
  setup.fewest_jobs_per_round = setup.most_jobs_per_round = m;
  return {};
}

}  // namespace

void add_search_options(CLI::App& command, SearchOptions& options) {
  add_delay_options(command, options.delays);
  command.add_option("--workers", options.workers, "n (default: the profile's columns)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--slope-factor",
                  options.slope_factor,
                  "Multiplies what a unit of load costs: heavier jobs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--max-delay", options.max_delay, "T: at most T+1 jobs (so T+1 models) in flight")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command
      .add_option("--storage",
                  options.storage,
                  "Data per worker: all, chunks of 1/n of it (1, 2, ...), or a fraction below 1")
      ->capture_default_str();
  command
      .add_option("--jobs-per-round",
                  options.jobs_per_round,
                  "Jobs that tuned schemes start in a round: auto (any number within max-delay + "
                  "1), 1 (no bundling), or exactly so many")
      ->capture_default_str();
  command
      .add_option("--max-residual",
                  options.max_residual,
                  "Tries approximate codes, too, whose rounds end with gradients that lack no more "
                  "than this (0 ... 1; 0: exact codes only)")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--jobs", options.jobs, "Gradients to deliver in each play")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--bootstrap",
                  options.block,
                  "Rounds that stay together when rounds are resampled; 0: the rounds as they are")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of codes and delay models")
      ->capture_default_str();
  add_worker_options(command, options.worker);
  command.add_option("--threads", options.threads, "Threads (default: as many as cores)")
      ->check(CLI::PositiveNumber);
  command.add_flag("--json", options.json, "Print JSON");
  add_config_option(command);
}

Expected<SearchSetup> make_search_setup(const SearchOptions& options) {
  auto delays = make_delays(options.delays, options.workers, kModelRounds, options.seed);
  if (!delays) return Unexpected(delays.error());
  if (!delays->source) return invalid("needs --profile FILE or --delays MODEL (docs/delays.md)");
  const int rounds = delays->profile_rounds > 0 ? delays->profile_rounds : kModelRounds;
  SearchSetup setup{
      .delays =
          DelayTable::record(*delays->source, rounds).with_slower_computing(options.slope_factor),
      .text = delays->text};
  auto storage = storage_of(options.storage, delays->workers);
  if (!storage) return Unexpected(storage.error());
  setup.storage = *storage;
  setup.max_residual = options.max_residual;
  if (auto set = set_bundling(options.jobs_per_round, options.max_delay, setup); !set) {
    return Unexpected(set.error());
  }
  setup.play = to_play_options(options.worker);
  setup.play.seed = options.seed;
  return setup;
}

WatchedSearch::WatchedSearch(const SearchOptions& options) {
  ProgressOptions display;
  display.fd = STDERR_FILENO;
  display.terminal = is_live_terminal(STDERR_FILENO);
  progress_ = std::make_unique<Progress>(display);
  control_.threads = options.threads;
  control_.interrupted = &catch_interrupts().now;
  control_.on_progress = [this](const SearchProgress& progress) {
    const Seconds elapsed = std::chrono::steady_clock::now() - started_;
    progress_->show(SearchState{progress.what, progress.done, progress.best, elapsed}, elapsed);
  };
}

}  // namespace paceline::app
