// paceline probe: measures how long workers take at several loads, and writes delay profiles.
#include "paceline/probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster_text.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "machine.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/metrics.hpp"
#include "paceline/probe_tables.hpp"
#include "ranks.hpp"
#include "train_options.hpp"
#include "train_setup.hpp"

namespace paceline::app {
namespace {

struct ProbeCommand {
  TrainOptions train;  ///< what a worker computes
  std::vector<double> loads = {0, 0.25, 0.5, 1};
  int rounds = 20;
  double patience = 600;
  std::string out = "delays";
  double mu = 1;
};

Expected<LocalRunResult> play_probe(const ProbePlan& plan,
                                    const Setup& setup,
                                    ProbeTables& tables,
                                    const std::atomic<bool>& stop,
                                    Ranks& ranks) {
  const auto coordinator = make_probe_coordinator(plan);
  SchemeInfo info;  // whole gradients
  ModelBank bank = make_bank(setup, info);
  std::vector<std::unique_ptr<GradientSource>> sources;
  sources.push_back(setup.model->clone());
  LocalRunOptions local;
  local.workers = plan.workers;
  local.chunk_size = plan.chunk_size;
  local.micro_batch = setup.options.micro_batch;
  local.message_type = message_type(setup.options);
  local.delays = setup.delays.source.get();
  local.compute_slots = setup.options.compute_slots;
  local.observer = [&tables](const RoundReport& report) { tables.add(*report.record); };
  local.interrupted = &stop;
  return ranks.run(*coordinator, bank, sources, *setup.sampler, local);
}

/// @return the paths, one per load with a whole round
Expected<std::vector<std::string>> write_profiles(const ProbeTables& tables,
                                                  const ProbeCommand& command,
                                                  const std::string& typed) {
  std::vector<std::string> paths;
  for (const DelayProfile& profile : tables.profiles()) {
    if (profile.rounds == 0) continue;
    const std::string path = fmt::format("{}-load{:.6g}.csv", command.out, profile.load);
    const std::string comment =
        fmt::format("measured {} by {}", local_time("%Y-%m-%d %H:%M"), typed);
    if (auto written = write_text_file(path, to_wide_csv(profile, comment)); !written) {
      return Unexpected(written.error());
    }
    paths.push_back(path);
  }
  return paths;
}

Expected<void> print_measured(const std::vector<std::string>& paths, double mu) {
  auto cluster = read_cluster(paths, {});
  if (!cluster) return Unexpected(cluster.error());
  const auto found = describe(std::move(*cluster), mu);
  if (!found) return Unexpected(found.error());
  print_description(*found, paths.size() == 1 ? "measured" : "measured, the lowest load");
  return {};
}

/// What rank 0 does, and a process alone.
Expected<void> lead(const ProbeCommand& command,
                    const std::vector<Setting>& settings,
                    const std::string& typed,
                    const std::atomic<bool>& stop,
                    Ranks& ranks) {
  const TrainOptions& train = command.train;
  // Said before anything is measured, not after.
  const auto folder = std::filesystem::path(command.out).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    return invalid(fmt::format("--out {}: there is no folder {}", command.out, folder.string()));
  }
  const auto setup = prepare(train, ranks.setup_for());
  if (!setup) return Unexpected(setup.error());
  const auto plan = plan_probe({.workers = setup->delays.workers,
                                .batch_size = train.batch,
                                .loads = command.loads,
                                .rounds = command.rounds,
                                .patience = Seconds{command.patience}});
  if (!plan) return Unexpected(plan.error());
  if (auto joined = ranks.admit(*setup, settings); !joined) return joined;

  ProbeTables tables(*plan);
  const auto result = play_probe(*plan, *setup, tables, stop, ranks);
  // Whatever ended it: the whole rounds are kept.
  const auto paths = write_profiles(tables, command, typed);
  if (!paths) return Unexpected(paths.error());
  if (!paths->empty()) {
    const auto printed = print_measured(*paths, command.mu);
    fmt::print("\n");
    for (const std::string& path : *paths) fmt::print("wrote {}\n", path);
    if (result && !printed) return printed;
  }
  if (result) {
    if (result->overruns == 0) return {};
    fmt::print(stderr,
               "paceline: warning: {} answers came later than injected: this machine's cores are "
               "part of what was measured\n",
               result->overruns);
    return {};
  }
  Error ended = result.error();
  if (!paths->empty()) ended.message += "; the whole rounds up to there are written";
  return Unexpected(std::move(ended));
}

Expected<void> run_probe(ProbeCommand command,
                         const std::vector<Setting>& settings,
                         const std::string& typed) {
  std::atomic<bool>& stop = catch_interrupts().now;
  TrainOptions& train = command.train;
  train.schemes.clear();
  train.models = 1;
  train.updates = command.rounds * static_cast<int>(command.loads.size());
  auto found = Ranks::find(train, stop);
  if (!found) return Unexpected(found.error());
  Ranks& ranks = **found;
  if (ranks.idle()) return {};
  if (ranks.serves()) return ranks.serve(prepare(train, ranks.setup_for()), settings);
  return ranks.end(lead(command, settings, typed, stop, ranks));
}

}  // namespace

void add_probe(CLI::App& program, Run& run, const Origins& origins) {
  register_models();
  CLI::App* command = program.add_subcommand(
      "probe", "Measure a delay profile of this cluster at several loads, for tune and simulate");
  auto options = std::make_shared<ProbeCommand>();
  add_cluster_options(*command, options->train);
  command
      ->add_option("--loads",
                   options->loads,
                   "Shares of the batch that every worker computes, 0 ... 1; 0 is one sample")
      ->delimiter(',')
      ->take_all()
      ->default_str("0,0.25,0.5,1");
  command->add_option("--rounds", options->rounds, "Rounds at each load")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option(
          "--patience",
          options->patience,
          "Most seconds that a round may take; a worker that does not answer ends the probe")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--out", options->out, "Files are called OUT-loadNUMBER.csv")
      ->capture_default_str();
  command->add_option("--mu", options->mu, "Stragglers take over 1+mu times the fastest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->callback([options, command, &run, &origins] {
    run = [options, command, &origins](const std::string& typed) {
      return run_probe(*options, effective_settings(*command, origins), typed);
    };
  });
}

}  // namespace paceline::app
