#include "tune_published.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "paceline/published_search.hpp"

namespace paceline::app {
namespace {

struct SearchedProfile {
  RecordedDelays recorded;
  PublishedSearchOptions options;
  PublishedSearch search;
  Seconds wall{0};
};

int decode_delay(const PublishedCandidate& candidate) {
  if (candidate.scheme == "sr-sgc") return candidate.B;
  if (candidate.scheme == "m-sgc") return candidate.W - 2 + candidate.B;
  return 0;
}

/// The profile that is searched, at zero load, and how it is to be replayed.
Expected<RecordedDelays> recorded_delays(const SearchOptions& search) {
  if (search.delays.profile.empty()) return invalid("--published needs --profile FILE");
  auto recorded = read_recorded(search.delays, search.workers);
  if (!recorded) return recorded;
  auto base = at_zero_load(std::move(recorded->profile), recorded->replay.slope);
  if (!base) return Unexpected(base.error());
  recorded->profile = *std::move(base);
  recorded->replay.slope *= search.slope_factor;
  return recorded;
}

Expected<SearchedProfile> search_profile(const PublishedOptions& options,
                                         const SearchOptions& search,
                                         bool jobs_given) {
  auto recorded = recorded_delays(search);
  if (!recorded) return Unexpected(recorded.error());
  const int rounds = recorded->profile.rounds;
  if (!jobs_given && rounds <= options.most_slots) {
    return invalid(
        fmt::format("{} has {} rounds, and the published search leaves --most-slots {} of them for "
                    "tail rounds; give --jobs, or --most-slots below {}",
                    recorded->text,
                    rounds,
                    options.most_slots,
                    rounds));
  }
  SearchedProfile found;
  found.recorded = *std::move(recorded);
  found.options = {.jobs = jobs_given ? search.jobs : rounds - options.most_slots,
                   .mu = options.mu,
                   .longest_window = options.longest_window,
                   .most_slots = options.most_slots,
                   .replay = found.recorded.replay};
  const auto begin = std::chrono::steady_clock::now();
  auto result = published_search(found.recorded.profile, found.options);
  found.wall = std::chrono::steady_clock::now() - begin;
  if (!result) return Unexpected(result.error());
  found.search = *std::move(result);
  return found;
}

nlohmann::ordered_json to_json(const SearchedProfile& found) {
  nlohmann::ordered_json best = nlohmann::ordered_json::array();
  for (const PublishedCandidate& candidate : found.search.best) {
    best.push_back({{"scheme", candidate.scheme},
                    {"text", candidate.text()},
                    {"B", candidate.B},
                    {"W", candidate.W},
                    {"lambda", candidate.lambda},
                    {"s", candidate.s},
                    {"load", candidate.load},
                    {"decode_delay", decode_delay(candidate)},
                    {"total_seconds", candidate.total.count()},
                    {"wait_outs", candidate.wait_outs}});
  }
  return {{"rules", "published"},
          {"delays", found.recorded.text},
          {"workers", found.recorded.profile.workers},
          {"recorded_rounds", found.recorded.profile.rounds},
          {"slope", found.options.replay.slope},
          {"jobs", found.options.jobs},
          {"mu", found.options.mu},
          {"longest_window", found.options.longest_window},
          {"most_slots", found.options.most_slots},
          {"simulations", found.search.candidates.size()},
          {"wall_seconds", found.wall.count()},
          {"best", std::move(best)}};
}

void print_table(const SearchedProfile& found) {
  const PublishedSearchOptions& options = found.options;
  fmt::print(
      "The published parameter search, by the rules of the program behind the SGC paper.\n"
      "{} workers, {}, {} recorded rounds, {:.6g} s per unit of load\n"
      "{} jobs, mu = {}, else wait for all; W <= {}, W-1+B <= {}\n\n",
      found.recorded.profile.workers,
      found.recorded.text,
      found.recorded.profile.rounds,
      options.replay.slope,
      options.jobs,
      options.mu,
      options.longest_window,
      options.most_slots);
  std::size_t width = 14;
  for (const auto& candidate : found.search.best) {
    width = std::max(width, candidate.text().size());
  }
  fmt::print("{:<{}}  {:>2}  {:>8}  {:>9}  {:>10}  {:>9}\n",
             "best of scheme",
             width,
             "T",
             "load",
             "total s",
             "vs uncoded",
             "wait-outs");
  const double uncoded = found.search.best.front().total.count();
  for (const PublishedCandidate& candidate : found.search.best) {
    fmt::print("{:<{}}  {:>2}  {:>8.6f}  {:>9.4f}  {:>10}  {:>9}\n",
               candidate.text(),
               width,
               decode_delay(candidate),
               candidate.load,
               candidate.total.count(),
               fmt::format("{:.2f}x", uncoded / candidate.total.count()),
               candidate.wait_outs);
  }
  fmt::print(
      "\n{} simulations in {:.1f} ms on one core. Totals are those of the searched rounds, T tail "
      "rounds included;\n`paceline tune` without --published judges on rounds that it has not "
      "searched, by our own rules.\n",
      found.search.candidates.size(),
      1e3 * found.wall.count());
}

}  // namespace

void add_published_options(CLI::App& command, PublishedOptions& options) {
  CLI::Option* published =
      command.add_flag("--published",
                       options.asked,
                       "Instead: the parameter search and rules of the program behind the SGC "
                       "paper (docs/reproduction.md)");
  for (const char* name : {"--delays",
                           "--proportional",
                           "--max-delay",
                           "--storage",
                           "--jobs-per-round",
                           "--bootstrap",
                           "--schemes",
                           "--folds",
                           "--worker-kind",
                           "--stragglers",
                           "--stop-latency",
                           "--seed",
                           "--threads"}) {
    published->excludes(command.get_option(name));
  }
  const auto add = [&](const char* name, auto& value, const char* meaning) {
    return command.add_option(name, value, meaning)->needs(published)->capture_default_str();
  };
  add("--mu", options.mu, "With --published: wait 1+mu times the fastest answer, else for all")
      ->check(CLI::NonNegativeNumber);
  add("--longest-window", options.longest_window, "With --published: largest W")
      ->check(CLI::PositiveNumber);
  add("--most-slots",
      options.most_slots,
      "With --published: largest B of SR-SGC and W-1+B of M-SGC; so many rounds of the profile are "
      "kept for tail rounds, the others are jobs unless --jobs is given")
      ->check(CLI::NonNegativeNumber);
}

Expected<void> run_published(const PublishedOptions& options,
                             const SearchOptions& search,
                             bool jobs_given) {
  const auto found = search_profile(options, search, jobs_given);
  if (!found) return Unexpected(found.error());
  if (search.json) {
    fmt::print("{}\n", to_json(*found).dump(2));
  } else {
    print_table(*found);
  }
  return {};
}

}  // namespace paceline::app
