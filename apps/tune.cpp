// paceline tune: which scheme, with which settings, suits a cluster.
#include "paceline/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "search_options.hpp"
#include "tune_published.hpp"

namespace paceline::app {
namespace {

struct TuneCommand {
  SearchOptions search;
  std::vector<std::string> schemes;
  int folds = 3;
  PublishedOptions published;
};

TuneOptions library_options(const TuneCommand& command, const SearchSetup& setup) {
  TuneOptions options;
  for (const std::string& list : command.schemes) {
    for (std::string& name : split_schemes(list)) options.schemes.push_back(std::move(name));
  }
  options.max_delay = command.search.max_delay;
  options.storage = setup.storage;
  options.max_residual = setup.max_residual;
  options.fewest_jobs_per_round = setup.fewest_jobs_per_round;
  options.most_jobs_per_round = setup.most_jobs_per_round;
  options.jobs = command.search.jobs;
  options.block = command.search.block;
  options.folds = command.folds;
  options.play = setup.play;
  return options;
}

int agreeing_folds(const TunedScheme& scheme) {
  return static_cast<int>(std::ranges::count(scheme.folds, scheme.info.label()));
}

std::string name_of(const TunedScheme& scheme) {
  std::string name = scheme.info.label();
  if (!scheme.left_out.empty()) name += fmt::format(" on {}", scheme.info.workers);
  return name;
}

nlohmann::ordered_json to_json(const Tuning& tuning) {
  nlohmann::ordered_json schemes = nlohmann::ordered_json::array();
  for (const TunedScheme& scheme : tuning.schemes) {
    schemes.push_back({{"family", scheme.family},
                       {"scheme", scheme.info.name},
                       {"parameters", scheme.info.parameters},
                       {"close", scheme.candidate.close},
                       {"left_out_workers", scheme.left_out},
                       {"load", scheme.info.load},
                       {"storage", scheme.info.storage},
                       {"messages_per_round", scheme.info.messages_per_round},
                       {"decode_delay", scheme.info.decode_delay},
                       {"jobs_per_round", scheme.info.jobs_per_round},
                       {"seconds_per_job", scheme.seconds_per_job.mean},
                       {"half_width", scheme.seconds_per_job.half_width},
                       {"limit_seconds_per_job", scheme.limit},
                       {"ratio_to_limit", scheme.ratio_to_limit()},
                       {"by_fold", scheme.folds}});
  }
  return {{"workers", tuning.workers},
          {"recorded_rounds", tuning.recorded_rounds},
          {"max_delay", tuning.options.max_delay},
          {"storage", tuning.options.storage},
          {"folds", tuning.options.folds},
          {"slow_workers", tuning.slow_workers},
          {"recommended", tuning.schemes[tuning.recommended].family},
          {"advice", tuning.advice},
          {"schemes", std::move(schemes)}};
}

void print_table(const Tuning& tuning, const std::string& title) {
  fmt::print("{} workers, {}, {} recorded rounds in {} folds, at most {} jobs in flight\n\n",
             tuning.workers,
             title,
             tuning.recorded_rounds,
             tuning.options.folds,
             tuning.options.max_delay + 1);
  std::size_t width = 14;
  std::size_t close_width = 5;
  for (const TunedScheme& scheme : tuning.schemes) {
    width = std::max(width, name_of(scheme).size() + 2);
    close_width = std::max(close_width, scheme.candidate.close.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>2}  {:>2}  {:>7}  {:>7}  {:>8}  {:>17}  {:>10}  {:>7}  {:>5}\n",
             "best of scheme",
             width,
             "close",
             close_width,
             "m",
             "T",
             "load",
             "storage",
             "messages",
             "s/job",
             "vs uncoded",
             "x limit",
             "folds");
  const TunedScheme& first = tuning.schemes.front();
  for (std::size_t i = 0; i < tuning.schemes.size(); ++i) {
    const TunedScheme& scheme = tuning.schemes[i];
    fmt::print(
        "{:<{}}  {:<{}}  {:>2}  {:>2}  {:>7.4f}  {:>7.4f}  {:>8}  {:>17}  {:>10}  {:>7.3f}  "
        "{:>5}\n",
        (i == tuning.recommended ? "> " : "  ") + name_of(scheme),
        width,
        scheme.candidate.close,
        close_width,
        scheme.info.jobs_per_round,
        scheme.info.decode_delay,
        scheme.info.load,
        scheme.info.storage,
        scheme.info.messages_per_round,
        fmt::format(
            "{:.4f} +- {:.4f}", scheme.seconds_per_job.mean, scheme.seconds_per_job.half_width),
        first.family == "uncoded"
            ? fmt::format("{:.2f}x", first.seconds_per_job.mean / scheme.seconds_per_job.mean)
            : std::string("-"),
        scheme.ratio_to_limit(),
        fmt::format("{}/{}", agreeing_folds(scheme), scheme.folds.size()));
  }
  fmt::print(
      "\nm: jobs per round; T: decode delay in rounds; storage: share of the data on a worker; "
      "s/job: "
      "on rounds that\ntuning had not seen, with its 95 % interval; folds: in how many of them the "
      "same setting was found\n\n{}\n",
      tuning.advice);
}

Expected<void> run_tune(const TuneCommand& command) {
  auto setup = make_search_setup(command.search);
  if (!setup) return Unexpected(setup.error());
  WatchedSearch watched(command.search);
  auto tuning = tune(setup->delays, library_options(command, *setup), watched.control());
  watched.clear();
  if (!tuning) return Unexpected(tuning.error());
  if (command.search.json) {
    fmt::print("{}\n", to_json(*tuning).dump(2));
  } else {
    print_table(*tuning, setup->text);
  }
  if (tuning->interrupted) {
    return Unexpected<Error>(
        {ErrorCode::kInterrupted, "interrupted; only the schemes above were tuned"});
  }
  return {};
}

}  // namespace

void add_tune(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "tune", "Find the scheme and settings that suit a delay profile or model");
  auto options = std::make_shared<TuneCommand>();
  options->search.jobs = 100;
  add_search_options(*command, options->search);
  command
      ->add_option("--schemes,--scheme",
                   options->schemes,
                   "Names, separated by commas (default: all, and uncoded and gc on fewer workers)")
      ->take_all();
  command
      ->add_option("--folds",
                   options->folds,
                   "Parts of the recorded rounds; each is scored by what was tuned on the others")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  add_published_options(*command, options->published);
  const CLI::Option* jobs = command->get_option("--jobs");
  command->callback([options, jobs, &run] {
    const bool jobs_given = jobs->count() > 0;
    run = [options, jobs_given](const std::string&) {
      if (options->published.asked) {
        return run_published(options->published, options->search, jobs_given);
      }
      return run_tune(*options);
    };
  });
}

}  // namespace paceline::app
