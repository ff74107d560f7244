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
#include <cmath>
#include <string>
#include <utility>

#include "schemes/code_choice.hpp"
#include "schemes/relay_plan.hpp"
#include "schemes/relay_scheme.hpp"

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

/// Grid of a job: fine enough that rounding a unit's borders changes its load by less than 1 %.
int chunks_of_job(int workers) {
  constexpr int kLeast = 4096;
  return workers * std::max(relay::kChunksPerWorker, (kLeast + workers - 1) / workers);
}

SchemeParameter parameter(const char* name, const char* allowed, const char* meaning) {
  return {name, allowed, meaning};
}

SchemeDescription description() {
  SchemeDescription text;
  text.name = "relay";
  text.summary = "hands what a round leaves open to other workers; exact plain sums";
  text.parameters = {
      parameter("T", "T >= 0", "decode delay for one job per round; T+1 models are needed"),
      parameter("r0", "1 <= r0 <= n", "first copies of a unit, may be fractional"),
      parameter("x", "0 <= x <= 1", "share of a round's new units that may stay open"),
      parameter("due", "1 <= due <= n", "copies of an open unit in its last round"),
      parameter("mid", "1 <= mid <= n", "copies of an open unit before its last round"),
      parameter("split", "0 or 1", "1: cut open units into pieces of about 1/n"),
      parameter("speed", "0 or 8", "8: size units by predicted speed, within a factor of 8"),
      parameter("bundle", "1 <= bundle <= T+1", "m: new jobs in a round"),
      parameter("accept_late", "0 or 1", "1: answers to closed rounds count while of use"),
  };
  text.load = "m / round(n/r0)";
  text.decode_delay = "floor((T+1)/m) - 1";
  text.source = "ours";
  text.example = "relay:T=1,r0=2";
  return text;
}

/// T, r0 and x always, the rest where it differs from the default, so that labels stay readable.
std::string canonical_text(const Setting& setting, int delay, bool accept_late, int workers) {
  std::string text = fmt::format("T={},r0={},x={}", delay, setting.copies, setting.threshold);
  if (setting.due_copies != std::min(kDefaultDue, workers))
    text += fmt::format(",due={}", setting.due_copies);
  if (setting.mid_copies != std::min(kDefaultMid, workers))
    text += fmt::format(",mid={}", setting.mid_copies);
  if (setting.split) text += ",split=1";
  if (setting.by_speed) text += ",speed=8";
  if (setting.bundle > 1) text += fmt::format(",bundle={}", setting.bundle);
  if (accept_late) text += ",accept_late=1";
  return text;
}

Expected<std::unique_ptr<Scheme>> make_relay(ParameterText& parameters,
                                             const SchemeContext& context) {
  constexpr int kMostDelay = 1000;
  const int n = context.workers;
  Setting setting;
  const int delay = parameters.integer("T", 0, kMostDelay, 1);
  setting.copies = parameters.number("r0", 1, n, std::min(kDefaultCopies, double(n)));
  setting.threshold = parameters.number("x", 0, 1, kDefaultThreshold);
  setting.due_copies = parameters.integer("due", 1, n, std::min(kDefaultDue, n));
  setting.mid_copies = parameters.integer("mid", 1, n, std::min(kDefaultMid, n));
  setting.split = parameters.integer("split", 0, 1, 0) == 1;
  const std::vector<std::string> speeds = {"0", "8"};
  setting.by_speed = parameters.word("speed", speeds, "0") == "8";
  const int bundle = parameters.integer("bundle", 1, kMostDelay + 1, 1);
  const bool accept_late = parameters.integer("accept_late", 0, 1, 0) == 1;
  if (bundle > delay + 1) {
    parameters.fail(
        fmt::format("bundle={} is not allowed; 1 <= bundle <= T+1 = {} (T >= {} would do)",
                    bundle,
                    delay + 1,
                    bundle - 1));
  }
  if (auto read = parameters.finish(); !read) return Unexpected<Error>(read.error());
  setting.bundle = std::min(bundle, n);  // a round has no more than n units
  setting.late_rounds = (delay + 1) / setting.bundle - 1;

  const Game game{n, chunks_of_job(n), delay + 1, context.jobs};
  SchemeInfo info;
  info.name = "relay";
  info.parameters = canonical_text(setting, delay, accept_late, n);
  info.workers = n;
  info.decode_delay = setting.late_rounds;
  info.jobs_per_round = setting.bundle;
  info.open_jobs = setting.bundle * (setting.late_rounds + 1);
  info.load = setting.bundle / std::max(1.0, std::round(n / setting.copies));
  info.chunk_size.assign(static_cast<std::size_t>(game.chunks), 1.0 / game.chunks);
  describe_code(nullptr, context.keep_promise, game.chunks, info);
  return std::unique_ptr<Scheme>(
      std::make_unique<Relay>(std::move(info), setting, game, accept_late));
}

/// "relay:T=3,bundle=2", or so: T for a decode delay of `late_rounds` with m jobs per round.
std::string relay_text(int late_rounds, int m) {
  std::string text = fmt::format("relay:T={}", m * (late_rounds + 1) - 1);
  if (m > 1) text += fmt::format(",bundle={}", m);
  return text;
}

/// All workers may get any unit, so each must reach all of the data.
std::vector<SearchFamily> search_relay(const SearchLimits& limits) {
  if (limits.storage < 1) return {};
  const int n = limits.workers;
  const int m = limits.most_jobs_per_round;
  const int most_late = limits.models / m - 1;
  SearchFamily own{.name = "relay", .lines = {}, .only_eager = true, .knows_rules = false};
  own.lines.push_back({0, most_late, [m](int late) { return relay_text(late, m); }});

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
