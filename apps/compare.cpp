// paceline compare: many schemes on the same delays, beside the clairvoyant limit.
#include "paceline/compare.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "machine.hpp"
#include "paceline/comparison_report.hpp"
#include "paceline/metrics.hpp"
#include "paceline/run_reports.hpp"
#include "search_options.hpp"
#include "train_options.hpp"

namespace paceline::app {
namespace {

struct CompareCommand {
  SearchOptions search;
  std::vector<std::string> schemes = {"all"};
  std::vector<std::string> closes;
  int seeds = 20;
  bool shuffle_workers = false;
  std::string report = "compare.html";
  bool report_asked = false;
  std::string save;
};

nlohmann::ordered_json to_json(const Comparison& comparison) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ComparedScheme& scheme : comparison.schemes) {
    all.push_back({{"scheme", scheme.info.name},
                   {"parameters", scheme.info.parameters},
                   {"close", scheme.candidate.close},
                   {"load", scheme.info.load},
                   {"decode_delay", scheme.info.decode_delay},
                   {"jobs_per_round", scheme.info.jobs_per_round},
                   {"mean_seconds", scheme.mean_seconds()},
                   {"sd_seconds", scheme.sd_seconds()},
                   {"limit_seconds", scheme.mean_limit()},
                   {"ratio_to_limit", scheme.ratio_to_limit()}});
  }
  return all;
}

CompareOptions library_options(const CompareCommand& command, const SearchSetup& setup) {
  CompareOptions options;
  options.schemes = command.schemes;
  options.closes = command.closes;
  options.jobs = command.search.jobs;
  options.max_delay = command.search.max_delay;
  options.storage = setup.storage;
  options.max_residual = setup.max_residual;
  options.fewest_jobs_per_round = setup.fewest_jobs_per_round;
  options.most_jobs_per_round = setup.most_jobs_per_round;
  options.block = command.search.block;
  options.seeds = command.seeds;
  options.shuffle_workers = command.shuffle_workers;
  options.play = setup.play;
  return options;
}

Expected<void> run_compare(const CompareCommand& command,
                           std::vector<Setting> settings,
                           const std::string& typed) {
  auto setup = make_search_setup(command.search);
  if (!setup) return Unexpected(setup.error());
  WatchedSearch watched(command.search);
  auto comparison = compare(setup->delays, library_options(command, *setup), watched.control());
  watched.clear();
  if (!comparison) return Unexpected(comparison.error());
  if (command.search.json) {
    fmt::print("{}\n", to_json(*comparison).dump(2));
  } else {
    fmt::print("{}", comparison_text(*comparison, setup->text));
  }
  const bool report = command.report_asked || !command.search.json;
  if (report && !comparison->schemes.empty()) {
    const std::string page = comparison_html(*comparison,
                                             {.title = setup->text,
                                              .command = typed,
                                              .date = local_time("%Y-%m-%d %H:%M"),
                                              .machine = machine_line()});
    if (auto written = write_text_file(command.report, page); !written) return written;
    if (!command.search.json) fmt::print("\nreport: {}\n", command.report);
  }
  if (!command.save.empty()) {
    RunReport saved = as_report(*comparison);
    saved.title = setup->text;
    saved.command = typed;
    saved.date = local_time("%Y-%m-%d %H:%M");
    saved.machine = machine_line();
    saved.configuration = std::move(settings);
    if (auto written = write_text_file(command.save, to_json(saved) + "\n"); !written) {
      return written;
    }
  }
  if (comparison->interrupted) {
    return Unexpected<Error>(
        {ErrorCode::kInterrupted, "interrupted; only the schemes above were compared"});
  }
  return {};
}

}  // namespace

void add_compare(CLI::App& program, Run& run, const Origins& origins) {
  CLI::App* command = program.add_subcommand(
      "compare", "Compare schemes on one delay profile or model, beside the clairvoyant limit");
  auto options = std::make_shared<CompareCommand>();
  command
      ->add_option("--schemes,--scheme",
                   options->schemes,
                   "With parameters: as given; a name alone (gc): tuned, with as many jobs per "
                   "round as --jobs-per-round allows; all: every scheme with every close rule, "
                   "bundled or not")
      ->take_all()
      ->capture_default_str();
  command
      ->add_option("--close",
                   options->closes,
                   "Close policies, each for every scheme (default: eager, or what tuning finds)")
      ->take_all();
  add_search_options(*command, options->search);
  command->add_option("--seeds", options->seeds, "Resamples to play, seeds 0 ... N-1")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag(
      "--shuffle-workers",
      options->shuffle_workers,
      "Renumber the workers, anew for every resample: takes away what neighbours share");
  CLI::Option* report = command
                            ->add_option("--report",
                                         options->report,
                                         "Where the page goes (not with --json, "
                                         "unless given)")
                            ->capture_default_str();
  command->add_option(
      "--save", options->save, "Write a report to this JSON file, for paceline report");
  command->callback([options, command, report, &run, &origins] {
    options->report_asked = report->count() > 0;
    run = [options, command, &origins](const std::string& typed) {
      return run_compare(*options, effective_settings(*command, origins), typed);
    };
  });
}

}  // namespace paceline::app
