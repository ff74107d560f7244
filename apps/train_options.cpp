#include "train_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "paceline/training.hpp"

namespace paceline::app {

namespace {

void add_table_options(CLI::App& command, TableFlags& table) {
  command.add_option("--label", table.label, "With a CSV file: the column that is the class");
  command
      .add_option("--ignore", table.ignored, "With a CSV file: columns that are no features, a,b,c")
      ->delimiter(',')
      ->take_all();
  command
      .add_option("--missing",
                  table.missing,
                  "With a CSV file: what an empty number is: an error, or its column's mean")
      ->check(CLI::IsMember({"error", "mean"}))
      ->capture_default_str();
  command.add_option("--test",
                     table.test,
                     "With a CSV file: another one to test on (default: a share of its rows)");
  command
      .add_option("--test-share",
                  table.test_share,
                  "With a CSV file: rows kept for testing, above 0 and below 1")
      ->capture_default_str();
}

}  // namespace

void add_cluster_options(CLI::App& command, TrainOptions& options) {
  add_config_option(command);
  command.add_option("--workers", options.workers, "n (default: the profile's columns, else 16)")
      ->check(CLI::PositiveNumber);
  add_delay_options(command, options.delays);
  add_bootstrap_option(command, options.delays);
  command
      .add_option("--model",
                  options.model,
                  fmt::format("Network: {}", fmt::join(training_model_names(), ", ")))
      ->capture_default_str();
  command
      .add_option("--device", options.device, "Where LibTorch networks compute: cpu, cuda, cuda:1")
      ->capture_default_str();
  command
      .add_option(
          "--data",
          options.data,
          "A CSV file with a row per sample, a folder with the four MNIST files, or synthetic")
      ->capture_default_str();
  add_table_options(command, options.table);
  command.add_option("--batch", options.batch, "Samples per gradient")->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of networks, batches, codes and delay models")
      ->capture_default_str();
  command
      .add_option(
          "--micro-batch", options.micro_batch, "Most samples between two looks at a cancellation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--messages",
                  options.messages,
                  "What workers round their messages to: float32, float16, bfloat16")
      ->capture_default_str();
  command
      .add_option("--slots",
                  options.compute_slots,
                  "Workers that compute at the same moment, in each process (default: the cores)")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--transport",
          options.transport,
          "local: workers are threads; mpi: they live on the ranks of mpirun or srun; auto: "
          "mpi where there are several ranks")
      ->check(CLI::IsMember({"auto", "local", "mpi"}))
      ->capture_default_str();
  command
      .add_option("--workers-per-rank",
                  options.workers_per_rank,
                  "With mpi: workers on each rank but 0 (default: as few as suffice)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--rank-limit",
                  options.rank_limit,
                  "With mpi: seconds of silence after which a rank counts as lost (default: a "
                  "minute, or 20 times the slowest response)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--join-limit",
                  options.join_limit,
                  "With mpi: seconds that ranks may take to join (default: 30, or 5 times what the "
                  "master took to prepare)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--end-limit",
                  options.end_limit,
                  "With mpi: seconds that ranks may take to leave (default: 2, or 5 times the "
                  "slowest response)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--master-limit",
                  options.master_limit,
                  "With mpi: seconds of silence after which the master counts as lost (default: "
                  "600, or 20 times its longest silence)")
      ->check(CLI::PositiveNumber);
}

void add_train_options(CLI::App& command, TrainOptions& options) {
  command
      .add_option(
          "--scheme,--schemes",
          options.schemes,
          "Schemes, played one after the other (list: paceline schemes), or auto: measures, "
          "chooses and switches; repeat, or separate by commas")
      ->take_all()
      ->default_str(fmt::format("{}", fmt::join(options.schemes, " ")));
  command
      .add_option("--close",
                  options.close,
                  "Close policy: eager, quantile:q=0.9, conforming:mu=1, published:mu=1")
      ->capture_default_str();
  add_cluster_options(command, options);
  command
      .add_option("--servers",
                  options.servers,
                  "With mpi: K, ranks 1 ... K hold parameters and decode, each a share of every "
                  "model; 0: rank 0 does")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--max-delay",
                  options.max_delay,
                  "T, with --scheme auto: at most T+1 jobs in flight (default: models - 1)")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--models", options.models, "M, networks trained at once; each has its own start")
      ->capture_default_str();
  command
      .add_option(
          "--optimizer",
          options.optimizers,
          "adam:lr=0.01 or sgd:lr=0.1,momentum=0.9; repeat it and model i takes the i-th, in turn")
      ->take_all()
      ->default_str(fmt::format("{}", fmt::join(options.optimizers, " ")));
  command
      .add_option("--updates", options.updates, "Updates of each network; jobs = models * updates")
      ->capture_default_str();
  command
      .add_option(
          "--skip-above",
          options.skip_above,
          "With approximate codes: no step with a gradient whose decoding leaves a residual "
          "above this (0 ... 1; default: always step)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag(
      "--verify", options.verify, "Compare every decoded gradient with the directly computed one");
  command.add_flag("--json", options.json, "Print the report as JSON");
  command.add_flag("--timeline",
                   options.timeline,
                   "Write timeline.json, too: who did what when, for ui.perfetto.dev");
  command.add_flag("--csv", options.csv, "Write metrics.csv and losses.csv, too (docs/reports.md)");
  command.add_option("--tensorboard",
                     options.tensorboard,
                     "Folder for TensorBoard's event files, written while the run goes on");
  command
      .add_option("--inject",
                  options.faults,
                  "A fault to be played: stop:worker=3,at=20,for=30 (rounds), kill, slow (by=4), "
                  "corrupt, nan, drop, duplicate, random:count=20,seed=1; repeat it for more")
      ->take_all();
  add_checkpoint_options(command, options);
  command.add_option("--run-dir",
                     options.run_directory,
                     "Folder for metrics.jsonl, config.json, report.html and report.json (default: "
                     "runs/DATE-TIME)");
  command.add_option("--dashboard",
                     options.dashboard,
                     "A live page while the run goes on: :8080 on this machine, HOST:PORT to be "
                     "seen from others, :0 for a free port");
}

void add_checkpoint_options(CLI::App& command, TrainOptions& options) {
  command.add_option(
      "--checkpoint", options.checkpoint, "Folder for checkpoints (default: none are written)");
  command
      .add_option("--checkpoint-every",
                  options.checkpoint_every,
                  "A checkpoint at the first close of a round after so many more decoded jobs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--keep", options.keep, "Checkpoints to keep")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option_function<std::vector<std::string>>(
          "--resume",
          [&options](const std::vector<std::string>& folder) {
            options.resumes = true;
            if (!folder.empty()) options.resume = folder.front();
          },
          "Go on from the newest whole checkpoint of this folder (default: that of --checkpoint, "
          "and from the beginning if it has none)")
      ->expected(0, 1);
}

std::vector<Setting> effective_settings(const CLI::App& command, const Origins& origins) {
  std::vector<Setting> settings;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (!option->get_configurable() && name != "config") continue;  // asks for help, say
    const bool given = option->count() > 0;
    std::string value = given ? fmt::format("{}", fmt::join(option->reduced_results(), " "))
                              : option->get_default_str();
    const bool may_stand_alone = option->get_expected_min() == 0;
    if (may_stand_alone && value.empty()) value = given ? "true" : "false";
    const auto origin = origins.find(name);
    settings.push_back({name,
                        std::move(value),
                        origin != origins.end() ? origin->second
                        : given                 ? "flag"
                                                : "default"});
  }
  return settings;
}

std::string settings_json(const std::vector<Setting>& settings) {
  nlohmann::ordered_json all;
  for (const Setting& setting : settings) {
    all[setting.key] = {{"value", setting.value}, {"origin", setting.origin}};
  }
  return all.dump(2) + "\n";
}

}  // namespace paceline::app
