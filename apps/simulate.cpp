// paceline simulate: plays schemes in virtual time over a delay profile or a delay model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "configuration.hpp"
#include "delay_options.hpp"
#include "machine.hpp"
#include "paceline/metrics.hpp"
#include "paceline/play.hpp"
#include "paceline/run_report.hpp"
#include "paceline/timeline.hpp"
#include "train_options.hpp"
#include "waiting.hpp"
#include "worker_options.hpp"

namespace paceline::app {
namespace {

struct SimulateOptions {
  std::vector<std::string> schemes;
  DelayOptions delays;
  std::string close = "eager";
  int workers = 0;
  int jobs = 100;
  int models = 0;
  std::uint64_t seed = 1;
  WorkerOptions worker;
  std::string timeline;
  std::string save;
  bool json = false;
};

/// Residuals up to this are rounding.
constexpr double kExactEnough = 1e-12;

struct SimulatedRun {
  Played played;
  Seconds clairvoyant{0};
  std::vector<RoundSummary> history;  ///< with --save
  std::optional<Seconds> time_won;
};

Expected<SimulatedRun> play_one(const std::string& text,
                                const SimulateOptions& options,
                                const Delays& delays,
                                Timeline* timeline) {
  PlayOptions play_options = to_play_options(options.worker);
  play_options.jobs = options.jobs;
  play_options.models = options.models;
  play_options.close = options.close;
  play_options.seed = options.seed;
  if (timeline != nullptr) {
    play_options.wrap = [timeline](std::unique_ptr<Coordinator> inner, const SchemeInfo& info) {
      return timeline->watch(std::move(inner), info.label(), info.workers);
    };
  }
  std::vector<RoundRecord> records;
  if (!options.save.empty()) {
    play_options.observer = [&records](const RoundRecord& record) { records.push_back(record); };
  }
  auto played = play(text, *delays.source, play_options);
  if (!played) return Unexpected(played.error());
  const int jobs_per_round = played->info.jobs_per_round;
  SimulatedRun run{
      *std::move(played), clairvoyant_total(*delays.source, options.jobs, jobs_per_round), {}, {}};
  if (!records.empty()) run.time_won = Seconds{0};
  for (const RoundRecord& record : records) {
    if (record.busy == 0) continue;
    run.history.push_back(summarize(record));
    add_time_won(run.time_won, record, run.played.info.load, delays.source.get());
  }
  return run;
}

/// For `paceline report`.
RunReport as_report(const std::vector<SimulatedRun>& runs,
                    const Delays& delays,
                    std::vector<Setting> settings,
                    const std::string& typed) {
  RunReport report;
  report.kind = "simulation";
  report.title = fmt::format("{}, {} workers", delays.text, delays.workers);
  report.command = typed;
  report.date = local_time("%Y-%m-%d %H:%M");
  report.machine = machine_line();
  report.configuration = std::move(settings);
  for (const SimulatedRun& simulated : runs) {
    const SimulationResult& result = simulated.played.result;
    SchemeRun run;
    run.label = simulated.played.info.label();
    run.load = simulated.played.info.load;
    run.decode_delay = simulated.played.info.decode_delay;
    run.jobs_per_round = simulated.played.info.jobs_per_round;
    run.jobs = result.jobs;
    run.rounds = result.rounds;
    run.wait_outs = result.wait_outs;
    run.total = result.total;
    run.limit = simulated.clairvoyant;
    run.time_won = simulated.time_won;
    run.mean_stragglers = result.mean_stragglers;
    if (result.mean_residual > kExactEnough) run.mean_residual = result.mean_residual;
    run.history = simulated.history;
    report.schemes.push_back(std::move(run));
  }
  return report;
}

nlohmann::ordered_json to_json(const SimulatedRun& run,
                               const SimulateOptions& options,
                               const Delays& delays) {
  const Played& played = run.played;
  const Seconds clairvoyant = run.clairvoyant;
  const SimulationResult& result = played.result;
  return {{"scheme", played.info.name},
          {"parameters", played.info.parameters},
          {"close", options.close},
          {"delays", delays.text},
          {"workers", played.info.workers},
          {"load", played.info.load},
          {"decode_delay", played.info.decode_delay},
          {"jobs_per_round", played.info.jobs_per_round},
          {"messages_per_round", played.info.messages_per_round},
          {"jobs", result.jobs},
          {"rounds", result.rounds},
          {"total_seconds", result.total.count()},
          {"seconds_per_job", result.total.count() / result.jobs},
          {"wait_outs", result.wait_outs},
          {"mean_stragglers", result.mean_stragglers},
          {"mean_residual", result.mean_residual},
          {"clairvoyant_seconds", clairvoyant.count()},
          {"ratio_to_clairvoyant", result.total / clairvoyant}};
}

void print_table(const std::vector<SimulatedRun>& runs,
                 const SimulateOptions& options,
                 const Delays& delays) {
  fmt::print("{} workers, {} jobs, {}, close {}\n",
             delays.workers,
             options.jobs,
             delays.text,
             options.close);
  if (delays.profile_rounds > 0 && !options.delays.bootstrap &&
      delays.profile_rounds < runs.front().played.result.rounds) {
    fmt::print("the profile has {} rounds: they repeat (--bootstrap SEED resamples them)\n",
               delays.profile_rounds);
  }
  std::size_t width = 6;
  for (const SimulatedRun& run : runs) width = std::max(width, run.played.info.label().size());
  fmt::print("\n{:<{}}  {:>9}  {:>7}  {:>7}  {:>6}  {:>8}  {:>10}  {:>9}  {:>7}\n",
             "scheme",
             width,
             "total s",
             "s/job",
             "load",
             "rounds",
             "delay T",
             "stragglers",
             "wait-outs",
             "x limit");
  for (const SimulatedRun& run : runs) {
    fmt::print("{:<{}}  {:>9.3f}  {:>7.4f}  {:>7.4f}  {:>6}  {:>8}  {:>10.2f}  {:>9}  {:>7.3f}\n",
               run.played.info.label(),
               width,
               run.played.result.total.count(),
               run.played.result.total.count() / run.played.result.jobs,
               run.played.info.load,
               run.played.result.rounds,
               run.played.info.decode_delay,
               run.played.result.mean_stragglers,
               run.played.result.wait_outs,
               run.played.result.total / run.clairvoyant);
  }
  fmt::print("\nx limit: total time over the clairvoyant limit for as many jobs per round\n");
  for (const SimulatedRun& run : runs) {
    if (run.played.result.mean_residual <= kExactEnough) continue;
    fmt::print("{}: approximate, leaves a residual of {:.3g} per job\n",
               run.played.info.label(),
               run.played.result.mean_residual);
  }
}

Expected<void> run_simulate(const SimulateOptions& options,
                            std::vector<Setting> settings,
                            const std::string& typed) {
  auto delays = make_delays(options.delays, options.workers, 2 * options.jobs + 64, options.seed);
  if (!delays) return Unexpected(delays.error());
  if (!delays->source)
    return invalid("simulate needs --profile FILE or --delays MODEL (docs/delays.md)");
  std::optional<Timeline> timeline;
  if (!options.timeline.empty()) {
    auto created = Timeline::create(options.timeline);
    if (!created) return Unexpected(created.error());
    timeline = *std::move(created);
  }
  std::vector<SimulatedRun> runs;
  for (const std::string& text : options.schemes) {
    for (const std::string& scheme : split_schemes(text)) {
      auto played = play_one(scheme, options, *delays, timeline ? &*timeline : nullptr);
      if (!played) return Unexpected(played.error());
      runs.push_back(std::move(*played));
    }
  }
  if (timeline) {
    if (auto closed = timeline->close(); !closed) return closed;
  }
  if (!options.save.empty()) {
    const std::string report = to_json(as_report(runs, *delays, std::move(settings), typed));
    if (auto written = write_text_file(options.save, report + "\n"); !written) return written;
  }
  if (!options.json) {
    print_table(runs, options, *delays);
    return {};
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const SimulatedRun& run : runs) all.push_back(to_json(run, options, *delays));
  fmt::print("{}\n", (all.size() == 1 ? all.front() : all).dump(2));
  return {};
}

}  // namespace

void add_simulate(CLI::App& program, Run& run, const Origins& origins) {
  CLI::App* command = program.add_subcommand(
      "simulate", "Play schemes in virtual time over a delay profile or model");
  auto options = std::make_shared<SimulateOptions>();
  command
      ->add_option("--scheme,--schemes",
                   options->schemes,
                   "Schemes, e.g. m-sgc:B=1,W=2,lambda=27 (list: paceline schemes); repeat, or "
                   "separate by commas")
      ->take_all()
      ->required();
  add_delay_options(*command, options->delays);
  add_bootstrap_option(*command, options->delays);
  command->add_option("--workers", options->workers, "n (default: the profile's columns)")
      ->check(CLI::PositiveNumber);
  command->add_option("--jobs", options->jobs, "Gradients to deliver")->capture_default_str();
  command
      ->add_option("--models",
                   options->models,
                   "Models trained at once (default: as many as the scheme needs)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--close",
                   options->close,
                   "Close policy: eager, quantile:q=0.9, conforming:mu=1, published:mu=1")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of codes and delay models")
      ->capture_default_str();
  add_worker_options(*command, options->worker);
  command->add_option(
      "--timeline",
      options->timeline,
      "Write who did what when to this file, for ui.perfetto.dev (docs/reports.md)");
  command->add_option(
      "--save", options->save, "Write a report to this JSON file, for paceline report");
  add_config_option(*command);
  command->add_flag(
      "--json", options->json, "Print JSON: an object, or an array for several schemes");
  command->callback([options, command, &run, &origins] {
    run = [options, command, &origins](const std::string& typed) {
      return run_simulate(*options, effective_settings(*command, origins), typed);
    };
  });
}

}  // namespace paceline::app
