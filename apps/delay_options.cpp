#include "delay_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "paceline/parameters.hpp"

namespace paceline::app {
namespace {

Expected<std::optional<double>> parse_unit(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  if (text == "s") return std::optional<double>(1);
  if (text == "ms") return std::optional<double>(1e-3);
  if (text == "us") return std::optional<double>(1e-6);
  if (text == "ns") return std::optional<double>(1e-9);
  const std::optional<double> seconds = to_number(text);
  if (seconds && *seconds > 0 && std::isfinite(*seconds)) return seconds;
  return invalid(
      fmt::format("--unit {} is not allowed; s, ms, us, ns or a number of seconds > 0", text));
}

Expected<Delays> modelled(const DelayOptions& options, int workers, std::uint64_t seed) {
  if (workers < 1) return invalid("--delays needs --workers (how many), at least 1");
  if (options.scale != 1) {
    return invalid("--scale goes with --profile; give the delay model its times directly");
  }
  auto model = make_delay_model(options.model, workers, seed);
  if (!model) return Unexpected(model.error());
  Delays delays;
  delays.workers = workers;
  delays.source = std::move(*model);
  delays.text = options.model;
  return delays;
}

Expected<Delays> recorded(const DelayOptions& options, int workers, int rounds) {
  auto recorded = read_recorded(options, workers);
  if (!recorded) return Unexpected(recorded.error());
  DelayProfile& profile = recorded->profile;
  Delays delays;
  delays.workers = profile.workers;
  delays.profile_rounds = profile.rounds;
  delays.text = std::move(recorded->text);
  auto replay = make_replay(
      options.bootstrap ? bootstrap(profile, rounds, *options.bootstrap) : std::move(profile),
      recorded->replay);
  if (!replay) return Unexpected(replay.error());
  delays.source = std::move(*replay);
  return delays;
}

}  // namespace

void add_import_options(CLI::App& command, ImportTexts& texts) {
  command.add_option(
      "--columns",
      texts.columns,
      "Where a long CSV or a trace has what, e.g. round=step,worker=rank,seconds=dur");
  command.add_option("--unit", texts.unit, "Of the file's times: s, ms, us, ns or so many seconds");
  command.add_option(
      "--load", texts.load, "Load at which the file was measured (default: it says)");
}

void add_delay_options(CLI::App& command, DelayOptions& options) {
  CLI::Option* profile =
      command
          .add_option(
              "--profile",
              options.profile,
              "Delay profile: CSV, one line per round, one column per worker, seconds; or "
              "another form (docs/delays.md). Repeat it for other loads of the same cluster")
          ->take_all()
          ->allow_extra_args(false);
  CLI::Option* model = command.add_option(
      "--delays",
      options.model,
      "Delay model, e.g. bursty:base=0.1,slow=5,bad=0.05,good=0.4 (docs/delays.md)");
  profile->excludes(model);
  add_import_options(command, options.import);
  for (const char* name : {"--columns", "--unit", "--load"}) {
    command.get_option(name)->needs(profile);
  }
  CLI::Option* slope = command.add_option("--slope",
                                          options.slope,
                                          "Seconds per unit of load that the profile's times grow "
                                          "by (default: that of several profiles)");
  slope->needs(profile)->check(CLI::NonNegativeNumber);
  command
      .add_flag("--proportional",
                options.proportional,
                "The profile's times are proportional to the load (at load 0: measured at 1/n)")
      ->needs(profile)
      ->excludes(slope);
  command.add_option("--scale", options.scale, "Multiplies every delay")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_bootstrap_option(CLI::App& command, DelayOptions& options) {
  command
      .add_option("--bootstrap",
                  options.bootstrap,
                  "Seed: resample the profile's rounds in blocks to the length of the run")
      ->needs(command.get_option("--profile"));
}

Expected<MeasuredCluster> read_cluster(const std::vector<std::string>& paths,
                                       const ImportTexts& texts) {
  const auto unit = parse_unit(texts.unit);
  if (!unit) return Unexpected(unit.error());
  auto cluster =
      read_measured_cluster(paths, {.columns = texts.columns, .unit = *unit, .load = texts.load});
  if (!cluster) return cluster;
  for (const std::string& warning : cluster->base.warnings) {
    fmt::print(stderr, "paceline: warning: {}\n", warning);
  }
  return cluster;
}

Expected<RecordedDelays> read_recorded(const DelayOptions& options, int workers) {
  auto cluster = read_cluster(options.profile, options.import);
  if (!cluster) return Unexpected(cluster.error());
  DelayProfile& profile = cluster->base;
  if (workers > profile.workers) {
    return invalid(
        fmt::format("{} has {} columns, but --workers is {}; at most {} workers, one per column",
                    options.profile.front(),
                    profile.workers,
                    workers,
                    profile.workers));
  }
  if (options.proportional && options.profile.size() > 1) {
    return invalid("--proportional goes with one profile; several say how times grow with load");
  }
  RecordedDelays recorded;
  recorded.text = std::filesystem::path(options.profile.front()).filename().string();
  if (options.profile.size() > 1) {
    recorded.text += fmt::format(" and {} more loads", options.profile.size() - 1);
  }
  if (!cluster->line && !options.slope && !options.proportional) {
    fmt::print(stderr,
               "paceline: warning: {} has times at one load, so they do not grow with the work and "
               "schemes that repeat much of it look best; add profiles at other loads, --slope "
               "SECONDS or --proportional\n",
               options.profile.front());
  }
  const double fitted = cluster->line ? cluster->line->slope : 0;
  recorded.replay = {.slope = options.slope.value_or(fitted),
                     .scale = options.scale,
                     .proportional = options.proportional};
  recorded.profile = workers > 0 ? first_workers(profile, workers) : std::move(profile);
  return recorded;
}

Expected<Delays> make_delays(const DelayOptions& options,
                             int workers,
                             int rounds,
                             std::uint64_t seed) {
  if (!options.model.empty()) return modelled(options, workers, seed);
  if (!options.profile.empty()) return recorded(options, workers, rounds);
  Delays delays;
  delays.workers = workers;
  return delays;
}

}  // namespace paceline::app
