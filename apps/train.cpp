// paceline train: trains several models at once under one scheme after the other, on the same data
// and delays.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoints.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "live_feed.hpp"
#include "machine.hpp"
#include "paceline/auto_pilot.hpp"
#include "paceline/dashboard.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/metrics.hpp"
#include "paceline/run_report.hpp"
#include "paceline/timeline.hpp"
#include "ranks.hpp"
#include "train_options.hpp"
#include "train_recorder.hpp"
#include "train_setup.hpp"
#include "trained_models.hpp"

namespace paceline::app {
namespace {

/// A verified error above this is no rounding. Errors are relative to the gradient, the promise is
/// relative to the sum of the chunks' gradients, which may be a good deal longer.
double broken_gradient(MessageType type) {
  constexpr double kLonger = 100;
  constexpr double kMost = 0.1;
  return std::min(kLonger * promised_error(type), kMost);
}

Expected<RunFiles> create_files(const std::string& directory, const TrainOptions& options) {
  auto metrics = MetricsWriter::create(directory + "/metrics.jsonl");
  if (!metrics) return Unexpected(metrics.error());
  RunFiles files{directory, {}, *std::move(metrics), {}, {}};
  if (options.csv) {
    auto created = MetricsTable::create(directory, options.models);
    if (!created) return Unexpected(created.error());
    files.table = *std::move(created);
  }
  if (options.timeline) {
    auto created = Timeline::create(directory + "/timeline.json");
    if (!created) return Unexpected(created.error());
    files.timeline = *std::move(created);
  }
  return files;
}

/// All are closed, whatever happens to one of them.
Expected<void> close(RunFiles& files) {
  auto metrics = files.metrics.close();
  auto timeline = files.timeline ? files.timeline->close() : Expected<void>();
  auto table = files.table ? files.table->close() : Expected<void>();
  if (!metrics) return metrics;
  return table ? timeline : table;
}

/// Of a run that begins anew with its unfinished jobs.
int jobs_left(const Setup& setup) {
  int done = 0;
  for (const auto& model : setup.resume->state.bank.models) done += model.version.value;
  return setup.options.jobs() - done;
}

void say_plainly(const std::string& line) { fmt::print(stderr, "paceline: {}\n", line); }

/// What the run goes on with, in one line.
std::string resumption(const FoundCheckpoint& found, const Setup& setup) {
  const Checkpoint& checkpoint = found.checkpoint;
  const RunState& state = checkpoint.state;
  const Plan& plan = setup.plans[static_cast<std::size_t>(checkpoint.scheme_number - 1)];
  const std::string where = fmt::format("goes on from {}: {} jobs were decoded after {:.1f} s",
                                        found.path,
                                        state.totals.jobs,
                                        state.now.count());
  if (plan.exactly) return where;
  const std::string other = difference(checkpoint.play, plan.facts);
  return fmt::format("{}; {}: every model begins at its last finished job, {} jobs are left",
                     where,
                     other.empty() ? "auto measures anew" : other,
                     jobs_left(setup));
}

/// @param remarks  gets a line for everything that was decided in the run
Expected<SchemeRun> play(const Plan& plan,
                         const Setup& setup,
                         int number,
                         RunFiles& files,
                         std::vector<Setting>& remarks,
                         Interrupts& interrupts,
                         CheckpointWriter* checkpoints,
                         Ranks& ranks,
                         LiveState* live) {
  const TrainOptions& options = setup.options;
  ModelBank bank = make_bank(setup, plan.info);
  std::vector<std::unique_ptr<GradientSource>> sources;
  sources.reserve(static_cast<std::size_t>(options.models));
  for (int m = 0; m < options.models; ++m) sources.push_back(setup.model->clone());

  if (plan.resumes && !plan.exactly) {
    BankState models;
    models.models = setup.resume->state.bank.models;
    if (auto restored = bank.restore(models); !restored) return Unexpected(restored.error());
  }

  Recorder recorder(plan, setup, number, files, interrupts.now, live);
  LocalRunOptions local;
  local.workers = setup.delays.workers;
  local.chunk_size = plan.info.chunk_size;
  local.shape = plan.info.shape;
  local.micro_batch = options.micro_batch;
  local.message_type = message_type(options);
  local.delays = setup.delays.source.get();
  local.compute_slots = options.compute_slots;
  local.verify = options.verify;
  std::optional<AutoPilot> pilot;
  if (plan.switching != nullptr) {
    pilot.emplace(*plan.switching,
                  auto_options(options),
                  setup.delays.workers,
                  options.jobs() - plan.first_job);
  }
  local.observer = [&](const RoundReport& report) {
    const Round round = report.record->round;
    recorder.on_round(report, pilot ? pilot->label(round) : plan.info.label());
    if (!pilot) return;
    if (const auto line = pilot->on_round(*report.record)) {
      recorder.say("auto: " + *line);
      remarks.push_back({"auto", *line, "chosen in the run"});
    }
  };
  if (files.timeline) {
    local.on_work = [&timeline = *files.timeline](const MasterWork& work) {
      timeline.add(work.what, work.began, work.ended);
    };
  }
  local.interrupted = &interrupts.now;
  local.faults = setup.faults;
  local.on_fault = [&](const FaultReport& report) { recorder.on_fault(report); };
  const Voice voice = [&recorder](const std::string& line) { recorder.say("paceline: " + line); };
  if (checkpoints != nullptr) {
    Checkpoint facts;
    facts.models = model_facts(options, setup);
    facts.play = plan.facts;
    facts.scheme_number = number;
    local.checkpoints = checkpoints->of_scheme(std::move(facts),
                                               plan.exactly ? setup.resume->state.totals.jobs : 0);
    local.checkpoints.leaving = &interrupts.leaving;
    checkpoints->set_voice(voice);
  }
  if (plan.exactly) local.checkpoints.resume = &setup.resume->state;
  ranks.set_voice(voice);
  auto result = ranks.run(*plan.coordinator, bank, sources, *setup.sampler, local);
  ranks.set_voice({});
  if (checkpoints != nullptr) {
    checkpoints->wait();
    checkpoints->set_voice(say_plainly);
  }
  if (recorder.error()) {
    recorder.clear();
    return Unexpected(*recorder.error());
  }
  if (!result) {
    recorder.clear();
    return Unexpected(result.error());
  }
  recorder.finish();
  if (const std::string traffic = ranks.traffic(); !traffic.empty()) {
    recorder.say("  " + traffic);
    remarks.push_back({"traffic of " + plan.info.label(), traffic, "measured in the run"});
  }

  if (result->injected + result->discarded + result->asked_again > 0) {
    const std::string line =
        fmt::format("{} faults injected, {} answers discarded, {} orders sent again",
                    result->injected,
                    result->discarded,
                    result->asked_again);
    recorder.say("  " + line);
    remarks.push_back({"faults of " + plan.info.label(), line, "measured in the run"});
  }

  SchemeRun run = std::move(recorder.run());
  run.jobs = result->jobs;
  run.rounds = result->rounds;
  run.wait_outs = result->wait_outs;
  run.total = result->total;
  run.mean_stragglers = result->mean_stragglers;
  run.overruns = result->overruns;
  run.bytes_per_round = result->bytes_per_round;
  if (pilot) {
    run.predicted = pilot->predicted();
    if (local.delays != nullptr) {
      run.limit = clairvoyant_total(*local.delays, plan.switching->segments(), options.jobs());
    }
  }
  if (result->verified > 0) {
    run.worst_verify_error = result->worst_verify_error;
    run.verified = result->verified;
  }
  const std::string path = fmt::format("{}/models-{}.safetensors", files.directory, number);
  if (auto kept = keep_models(bank, setup, path, run); !kept) files.trouble = kept.error();
  if (auto closed = recorder.close_events(run.accuracy); !closed) return Unexpected(closed.error());
  return run;
}

Expected<std::string> make_run_directory(const TrainOptions& options) {
  std::string path =
      options.run_directory.empty() ? "runs/" + local_time("%Y%m%d-%H%M%S") : options.run_directory;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return invalid(fmt::format("--run-dir {}: cannot make this folder: {}", path, error.message()));
  }
  return path;
}

/// The metrics that an earlier run left in this folder become metrics-1.jsonl, or the next number,
/// and so its tables.
void set_metrics_aside(const std::string& directory) {
  for (const auto& [name, ending] :
       {std::pair{"metrics", "jsonl"}, std::pair{"metrics", "csv"}, std::pair{"losses", "csv"}}) {
    const auto file = [&](const std::string& suffix) {
      return fmt::format("{}/{}{}.{}", directory, name, suffix, ending);
    };
    if (!std::filesystem::exists(file(""))) continue;
    int number = 1;
    while (std::filesystem::exists(file(fmt::format("-{}", number)))) ++number;
    std::error_code ignored;
    std::filesystem::rename(file(""), file(fmt::format("-{}", number)), ignored);
  }
}

Expected<void> check_gradients(const RunReport& report, MessageType type) {
  const double limit = broken_gradient(type);
  for (const SchemeRun& run : report.schemes) {
    const bool exact = !run.mean_residual;
    if (exact && run.worst_verify_error && !(*run.worst_verify_error < limit)) {
      return failed(fmt::format(
          "{}: a decoded gradient is off by {:.2g} relative, which is no rounding (limit {:g})",
          run.label,
          *run.worst_verify_error,
          limit));
    }
  }
  return {};
}

/// What rank 0 does, and a process alone.
Expected<void> lead(const TrainOptions& options,
                    std::vector<Setting> settings,
                    const std::string& command,
                    Interrupts& interrupts,
                    Ranks& ranks) {
  LiveState live;
  auto dashboard = open_dashboard(options.dashboard, live);
  if (!dashboard) return Unexpected(dashboard.error());
  if (*dashboard) say_plainly("dashboard: " + (*dashboard)->url());
  const auto found = find_checkpoint(options, say_plainly);
  if (!found) return Unexpected(found.error());
  SetupFor what = ranks.setup_for();
  if (*found) what.resume = &(*found)->checkpoint;
  auto made = prepare(options, what);
  if (!made) return Unexpected(made.error());
  Setup setup = std::move(*made);
  auto checkpoints = CheckpointWriter::open(options, settings, say_plainly);
  if (!checkpoints) return Unexpected(checkpoints.error());
  if (*checkpoints) let_rounds_end(!ranks.launched());
  if (*found) say_plainly(resumption(**found, setup));
  if (auto joined = ranks.admit(setup, settings); !joined) return joined;

  auto directory = make_run_directory(options);
  if (!directory) return Unexpected(directory.error());
  if (*found) set_metrics_aside(*directory);
  auto files = create_files(*directory, options);
  if (!files) return Unexpected(files.error());

  RunReport report;
  report.title = fmt::format("{} x {} on {}, {} workers",
                             options.models,
                             options.model,
                             setup.data.name,
                             setup.delays.workers);
  report.command = command;
  report.date = local_time("%Y-%m-%d %H:%M");
  report.machine = machine_line();
  report.configuration = std::move(settings);
  report.models = model_names(options);
  live.describe({.id = std::to_string(std::chrono::system_clock::now().time_since_epoch().count()),
                 .title = report.title,
                 .command = command,
                 .directory = *directory,
                 .workers = setup.delays.workers,
                 .models = report.models});
  if (auto written =
          write_text_file(*directory + "/config.json", settings_json(report.configuration));
      !written) {
    return written;
  }

  std::optional<Error> ended;
  const int first = *found ? (*found)->checkpoint.scheme_number - 1 : 0;
  for (std::size_t i = static_cast<std::size_t>(first); i < setup.plans.size() && !ended; ++i) {
    Plan& plan = setup.plans[i];
    if (files->timeline) {
      plan.coordinator = files->timeline->watch(
          std::move(plan.coordinator), plan.info.label(), setup.delays.workers);
    }
    auto run = play(plan,
                    setup,
                    static_cast<int>(i) + 1,
                    *files,
                    report.configuration,
                    interrupts,
                    checkpoints->get(),
                    ranks,
                    *dashboard ? &live : nullptr);
    if (run) {
      report.schemes.push_back(std::move(*run));
      ended = files->trouble;  // the report of what was played is written nevertheless
    } else {
      ended = run.error();
    }
  }
  // Whatever ended the run: what there is gets written and closed.
  auto closed = close(*files);
  if (!ended && !closed) ended = closed.error();
  if (!report.schemes.empty()) {
    auto written = write_text_file(*directory + "/report.html", report_html(report));
    if (!ended && !written) ended = written.error();
    written = write_text_file(*directory + "/report.json", to_json(report) + "\n");
    if (!ended && !written) ended = written.error();
    fmt::print("{}", options.json ? to_json(report) + "\n" : table_text(report));
    if (!options.json && options.optimizers.size() > 1) {
      fmt::print("\n{}", accuracies_text(report));
    }
    if (!options.json && !ended) fmt::print("\nreport: {}/report.html\n", *directory);
  }
  if (ended) {
    if (ended->code == ErrorCode::kInterrupted) {
      ended->message += fmt::format("; {} holds what was done", *directory);
    }
    if (*checkpoints && !(*checkpoints)->newest().empty()) {
      ended->message += fmt::format("; --resume goes on from {}", (*checkpoints)->newest());
    }
    return Unexpected(*ended);
  }
  return check_gradients(report, message_type(options));
}

Expected<void> run_train(const TrainOptions& options,
                         std::vector<Setting> settings,
                         const std::string& command) {
  Interrupts& interrupts = catch_interrupts();
  auto found = Ranks::find(options, interrupts.now);
  if (!found) return Unexpected(found.error());
  Ranks& ranks = **found;
  if (ranks.idle()) return {};
  if (ranks.serves()) return ranks.serve(prepare(options, ranks.setup_for()), settings);
  return ranks.end(lead(options, std::move(settings), command, interrupts, ranks));
}

}  // namespace

void add_train(CLI::App& program, Run& run, const Origins& origins) {
  register_models();
  CLI::App* command = program.add_subcommand(
      "train", "Train several models at once, under one scheme after the other");
  auto options = std::make_shared<TrainOptions>();
  add_train_options(*command, *options);
  command->callback([options, command, &run, &origins] {
    run = [options, command, &origins](const std::string& typed) {
      return run_train(*options, effective_settings(*command, origins), typed);
    };
  });
}

}  // namespace paceline::app
