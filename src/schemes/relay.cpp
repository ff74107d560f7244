// Relay cuts each job's batch into k units, gives each unit to about r0 workers, and closes a round
// as soon as few enough units are open (coverage, never a count of answers). Units that stay open
// are handed to the fastest workers of the next rounds until their deadline T' rounds later, when
// the round waits for them. A gradient is the plain sum of one answer per unit, so it is exact.
//
// Workers are ordered by what their answers have taught (relay_learn.hpp); plans and closing are
// pure functions (relay_plan.hpp). This file keeps the books: which unit is done by which message,
// which job is complete. Source: ours, not in the literature.
#include "schemes/relay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "schemes/code_choice.hpp"
#include "schemes/relay_plan.hpp"
#include "schemes/relay_scheme.hpp"
#include "schemes/relay_settings.hpp"

namespace paceline {
namespace {

using relay::Game;
using relay::Relay;
using relay::Setting;

// Of 45 settings tried for each of T = 1 and T = 3 on three recorded profiles, with little and with
// heavy computing, these came within 9 % of the best one everywhere but on one profile (18 %),
// which wants eight copies or more; and two copies are the least that rarely wait for one slow
// worker.
constexpr double kDefaultCopies = 2;
constexpr double kDefaultThreshold = 0.2;
constexpr int kDefaultDue = 4;
constexpr int kDefaultMid = 1;

/// Grid of a job: fine enough that rounding a unit's borders changes its load by less than 1 %, and
/// the same for all parts of the data.
int chunks_of_job(int workers, int parts) {
  constexpr int kLeast = 4096;
  const int chunks = std::max(workers * relay::kChunksPerWorker, kLeast);
  return (chunks + parts - 1) / parts * parts;
}

SchemeParameter parameter(const char* name, const char* allowed, const char* meaning) {
  return {name, allowed, meaning};
}

SchemeDescription description() {
  SchemeDescription text;
  text.name = "relay";
  text.summary = "hands what a round leaves open to other workers; exact plain sums; sets itself";
  text.parameters = {
      parameter("T", "T >= 0", "decode delay for one job per round; T+1 models are needed"),
      parameter("bundle",
                "1 <= bundle <= T+1, or auto",
                "m: new jobs in a round; auto (the default unless a setting is given): what pays"),
      parameter("accept_late",
                "0 or 1",
                "1 (the default unless a setting is given): late answers count while of use"),
      parameter("holders",
                "1 <= holders <= n",
                "r: workers that hold a chunk, at least; all if left out"),
      parameter("r0", "1 <= r0 <= holders", "a setting: first copies of a unit, may be fractional"),
      parameter("x", "0 <= x <= 1", "a setting: share of a round's new units that may stay open"),
      parameter("due", "1 <= due <= n", "a setting: copies of an open unit in its last round"),
      parameter("mid", "1 <= mid <= n", "a setting: copies of an open unit before its last round"),
      parameter("split", "0 or 1", "a setting, 1: cut open units into pieces of about 1/n"),
      parameter("speed", "0 or 8", "a setting, 8: size units by predicted speed, at most 8 times"),
  };
  text.load = "m / round(n/r0)";
  text.decode_delay = "floor((T+1)/m) - 1";
  text.source = "ours";
  text.example = "relay:T=3";
  return text;
}

/// What the text says.
struct Options {
  Game game;
  int holders = 0;           ///< r
  Setting setting;           ///< for the whole run, or to begin with
  std::vector<int> bundles;  ///< to choose from; empty: the setting is fixed
  bool accept_late = false;
};

/// Whether the text gives a setting; without one relay finds its own.
bool gives_setting(const ParameterText& parameters) {
  return std::ranges::any_of(std::array{"r0", "x", "due", "mid", "split", "speed"},
                             [&](const char* key) { return parameters.has(key); });
}

Setting read_setting(ParameterText& parameters, int workers, int holders) {
  const std::vector<std::string> speeds = {"0", "8"};
  Setting setting;
  setting.copies = parameters.number("r0", 1, holders, std::min(kDefaultCopies, double(holders)));
  setting.threshold = parameters.number("x", 0, 1, kDefaultThreshold);
  setting.due_copies = parameters.integer("due", 1, workers, std::min(kDefaultDue, workers));
  setting.mid_copies = parameters.integer("mid", 1, workers, std::min(kDefaultMid, workers));
  setting.split = parameters.integer("split", 0, 1, 0) == 1;
  setting.by_speed = parameters.word("speed", speeds, "0") == "8";
  return setting;
}

Options read_options(ParameterText& parameters, const SchemeContext& context) {
  constexpr int kMostDelay = 1000;
  const int n = context.workers;
  const int window = parameters.integer("T", 0, kMostDelay, 1) + 1;
  const int holders = parameters.integer("holders", 1, n, n);
  const int parts = n / holders;
  const bool fixed = gives_setting(parameters);
  Options options;
  options.game = {n, chunks_of_job(n, parts), window, context.jobs, parts};
  options.holders = holders;
  options.setting = read_setting(parameters, n, holders);
  options.accept_late = parameters.integer("accept_late", 0, 1, fixed ? 0 : 1) == 1;
  const bool any_bundle =
      parameters.has("bundle") ? parameters.text("bundle", "") == "auto" : !fixed;
  if (any_bundle && fixed) {
    parameters.fail("bundle=auto is for a relay that finds its own setting, without r0, x, ...");
  }
  int bundle = any_bundle ? 1 : parameters.integer("bundle", 1, kMostDelay + 1, 1);
  if (bundle > window) {
    parameters.fail(
        fmt::format("bundle={} is not allowed; 1 <= bundle <= T+1 = {} (T >= {} would do)",
                    bundle,
                    window,
                    bundle - 1));
  }
  bundle = std::min({bundle, window, holders});  // a part has no more than so many units in a round
  if (fixed) {
    options.setting.bundle = bundle;
    options.setting.late_rounds = window / bundle - 1;
  } else {
    options.bundles = any_bundle ? relay::possible_bundles(options.game) : std::vector{bundle};
    options.setting = relay::first_setting(options.game, options.bundles);
  }
  return options;
}

/// T, r0 and x always, the rest where it differs from the default, so that labels stay readable.
std::string setting_text(const Setting& setting, int workers) {
  std::string text = fmt::format(",r0={},x={}", setting.copies, setting.threshold);
  if (setting.due_copies != std::min(kDefaultDue, workers))
    text += fmt::format(",due={}", setting.due_copies);
  if (setting.mid_copies != std::min(kDefaultMid, workers))
    text += fmt::format(",mid={}", setting.mid_copies);
  if (setting.split) text += ",split=1";
  if (setting.by_speed) text += ",speed=8";
  if (setting.bundle > 1) text += fmt::format(",bundle={}", setting.bundle);
  return text;
}

std::string canonical_text(const Options& options) {
  std::string text = fmt::format("T={}", options.game.window - 1);
  const bool fixed = options.bundles.empty();
  if (fixed) {
    text += setting_text(options.setting, options.game.workers);
  } else if (options.bundles != relay::possible_bundles(options.game)) {
    text += fmt::format(",bundle={}", options.bundles.front());
  }
  if (options.game.groups > 1) {
    text += fmt::format(",holders={}", options.holders);
  }
  if (options.accept_late == fixed) text += fmt::format(",accept_late={}", fixed ? 1 : 0);
  return text;
}

Expected<std::unique_ptr<Scheme>> make_relay(ParameterText& parameters,
                                             const SchemeContext& context) {
  const Options options = read_options(parameters, context);
  if (auto read = parameters.finish(); !read) return Unexpected<Error>(read.error());
  const auto& [game, holders, setting, bundles, accept_late] = options;

  SchemeInfo info;
  info.name = "relay";
  info.parameters = canonical_text(options);
  info.self_setting = !bundles.empty();
  info.workers = game.workers;
  info.jobs_per_round = bundles.empty() ? setting.bundle : *std::ranges::max_element(bundles);
  if (bundles.empty()) {
    info.decode_delay = setting.late_rounds;
    info.open_jobs = setting.bundle * (setting.late_rounds + 1);
  } else {
    info.decode_delay = game.window / *std::ranges::min_element(bundles) - 1;
    info.open_jobs = game.window;
  }
  const int least_holders = game.workers / game.groups;
  const double units = game.groups * std::max(1.0, std::round(least_holders / setting.copies));
  info.load = setting.bundle / units;
  info.storage = 1.0 / game.groups;
  info.chunk_size.assign(static_cast<std::size_t>(game.chunks), 1.0 / game.chunks);
  describe_code(nullptr, context, game.chunks, info);
  std::vector<Setting> candidates;
  if (!bundles.empty()) candidates = relay::candidate_settings(game, bundles, accept_late);
  return std::unique_ptr<Scheme>(
      std::make_unique<Relay>(std::move(info),
                              setting,
                              candidates,
                              game,
                              relay::Habits{accept_late, context.stops_stragglers}));
}

}  // namespace

Expected<std::unique_ptr<Scheme>> make_automatic_repetition(const SchemeContext& context) {
  const int n = context.workers;
  const Game game{n, chunks_of_job(n, 1), 1, context.jobs, 1};
  std::vector<Setting> candidates = relay::candidate_groups(game);
  Setting first = candidates.front();
  first.copies = relay::first_setting(game, {1}).copies;
  SchemeInfo info;
  info.name = "gc";
  info.parameters = "s=auto";
  info.self_setting = true;
  info.workers = n;
  info.load = 1 / std::max(1.0, std::round(n / first.copies));
  info.chunk_size.assign(static_cast<std::size_t>(game.chunks), 1.0 / game.chunks);
  describe_code(nullptr, context, game.chunks, info);
  return std::unique_ptr<Scheme>(std::make_unique<Relay>(
      std::move(info), first, candidates, game, relay::Habits{false, context.stops_stragglers}));
}

namespace {

/// "relay:T=3,bundle=2", or so: T for a decode delay of `late_rounds` with m jobs per round.
std::string relay_text(int late_rounds, int m) {
  return fmt::format("relay:T={},bundle={}", m * (late_rounds + 1) - 1, m);
}

/// Relay that finds its own setting, in the most room that it may have, and settings to fix. These
/// let all workers get any unit, so each must reach all of the data.
std::vector<SearchFamily> search_relay(const SearchLimits& limits) {
  const int n = limits.workers;
  const int m = limits.most_jobs_per_round;
  const int most_late = limits.models / m - 1;
  SearchFamily own{.name = "relay", .lines = {}, .only_eager = true, .knows_rules = false};
  const int parts = static_cast<int>(std::ceil(1 / limits.storage - 1e-9));
  const std::string holders = parts > 1 ? fmt::format(",holders={}", std::max(1, n / parts)) : "";
  own.lines.push_back(
      {most_late, most_late, [=](int late) { return relay_text(late, m) + holders; }});
  if (limits.storage < 1) return {std::move(own)};

  SearchFamily fixed{.name = "relay-fixed", .lines = {}, .only_eager = true, .knows_rules = false};
  // Along a line the number of units grows; r0 = n / units copies of each.
  const auto add = [&](int late, double x, const std::string& rest, int least_units) {
    fixed.lines.push_back(
        {least_units, n, [=](int units) {
           return fmt::format(
               "{},r0={:.6g},x={}{}", relay_text(late, m), static_cast<double>(n) / units, x, rest);
         }});
  };
  const int half = std::max(1, n / 2);  // sizes by speed are of use for few copies only
  add(0, 0, "", 1);
  add(0, 0, ",speed=8", half);
  if (most_late > 0) {
    struct Copies {
      int due, mid, split;
    };

    for (const double x : {0.05, 0.2, 0.4, 0.7}) {
      for (const auto [due, mid, split] : {Copies{8, 2, 0}, Copies{4, 1, 0}, Copies{3, 1, 1}}) {
        const std::string copies =
            fmt::format(",due={},mid={},split={}", std::min(due, n), std::min(mid, n), split);
        add(most_late, x, copies, 1);
      }
    }
    for (const double x : {0.05, 0.4}) add(most_late, x, ",speed=8", half);
  }
  return {std::move(own), std::move(fixed)};
}

}  // namespace

SchemeEntry relay_entry() { return {description(), make_relay, false, search_relay}; }

}  // namespace paceline
