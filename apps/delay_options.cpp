#include "delay_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

namespace paceline::app {
namespace {

void keep_first_workers(int workers, DelayProfile& profile) {
  DelayProfile kept{profile.rounds, workers, profile.load, {}};
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < workers; ++i) kept.seconds.push_back(profile.at(r, i));
  }
  profile = std::move(kept);
}

}  // namespace

void add_delay_options(CLI::App& command, DelayOptions& options) {
  CLI::Option* profile =
      command.add_option("--profile",
                         options.profile,
                         "Delay profile: CSV, one line per round, one column per worker, seconds");
  CLI::Option* model = command.add_option(
      "--delays",
      options.model,
      "Delay model, e.g. bursty:base=0.1,slow=5,bad=0.05,good=0.4 (docs/delays.md)");
  profile->excludes(model);
  command
      .add_option(
          "--slope", options.slope, "Seconds per unit of load that the profile's times grow by")
      ->needs(profile)
      ->check(CLI::NonNegativeNumber);
  command.add_option("--scale", options.scale, "Multiplies every delay")
      ->check(CLI::PositiveNumber);
}

void add_bootstrap_option(CLI::App& command, DelayOptions& options) {
  command
      .add_option("--bootstrap",
                  options.bootstrap,
                  "Seed: resample the profile's rounds in blocks to the length of the run")
      ->needs(command.get_option("--profile"));
}

Expected<Delays> make_delays(const DelayOptions& options,
                             int workers,
                             int rounds,
                             std::uint64_t seed) {
  Delays delays;
  delays.workers = workers;
  if (!options.model.empty()) {
    if (workers < 1) return invalid("--delays needs --workers (how many), at least 1");
    if (options.scale != 1) {
      return invalid("--scale goes with --profile; give the delay model its times directly");
    }
    auto model = make_delay_model(options.model, workers, seed);
    if (!model) return Unexpected(model.error());
    delays.source = std::move(*model);
    delays.text = options.model;
    return delays;
  }
  if (options.profile.empty()) return delays;
  auto profile = read_delay_profile(options.profile);
  if (!profile) return Unexpected(profile.error());
  if (workers > profile->workers) {
    return invalid(
        fmt::format("{} has {} columns, but --workers is {}; at most {} workers, one per column",
                    options.profile,
                    profile->workers,
                    workers,
                    profile->workers));
  }
  if (workers == 0) {
    delays.workers = profile->workers;
  } else {
    keep_first_workers(workers, *profile);
  }
  delays.profile_rounds = profile->rounds;
  delays.text = std::filesystem::path(options.profile).filename().string();
  DelayProfile played =
      options.bootstrap ? bootstrap(*profile, rounds, *options.bootstrap) : std::move(*profile);
  auto replay = make_replay(std::move(played), {.slope = options.slope, .scale = options.scale});
  if (!replay) return Unexpected(replay.error());
  delays.source = std::move(*replay);
  return delays;
}

}  // namespace paceline::app
