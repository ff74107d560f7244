#include "schemes/relay_shadow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "paceline/random.hpp"
#include "schemes/relay_player.hpp"
#include "schemes/relay_settings.hpp"

namespace paceline::relay {
namespace {

constexpr double kTolerance = 1e-9;

Game endless(int workers, int window, int groups = 1) {
  return {workers, workers * groups * kChunksPerWorker, window, kEndless, groups};
}

RoundTimes random_times(int workers, int round, RandomStream& random) {
  RoundTimes times;
  times.round = Round{round};
  times.seen.informed = true;
  for (int i = 0; i < workers; ++i) {
    times.seen.by_id.push_back(WorkerId{i});
    times.seen.base.push_back(1);
    times.seen.rate.push_back(0.1 + 4 * random.uniform());
    times.base.push_back(1 + random.uniform() + (random.below(4) == 0 ? 3 * random.uniform() : 0));
    times.rate.push_back(0.1 + 4 * random.uniform());
  }
  times.seen.order = times.seen.by_id;
  for (std::size_t i = times.seen.order.size(); i > 1; --i) {
    std::swap(times.seen.order[i - 1], times.seen.order[random.below(i)]);
  }
  return times;
}

Setting random_setting(const Game& game, RandomStream& random) {
  const std::vector<Setting> all = candidate_settings(game, possible_bundles(game), true);
  Setting setting = all[random.below(all.size())];
  setting.rescue = false;
  return setting;
}

/// The slow and obvious way: one answer after the other, asking may_close() after each.
class EventByEvent {
 public:
  EventByEvent(const Game& game, const Setting& setting, bool accept_late)
      : game_(game),
        setting_(setting),
        accept_late_(accept_late),
        free_at_(static_cast<std::size_t>(game.workers), 0) {}

  double play(const RoundTimes& times) {
    RoundWork work;
    std::vector<char> busy;
    for (const double at : free_at_) busy.push_back(times.queued && at > clock_ ? 1 : 0);
    plan_round(setting_, game_, ledger_, times.round, times.seen, work, busy);
    std::vector<std::pair<double, std::vector<int>>> answers;  // when, and the units it completes
    for (int i = 0; i < game_.workers; ++i) {
      const std::vector<int> units = work.units_of(WorkerId{i});
      if (units.empty()) continue;
      double load = 0;
      for (const int u : units) {
        load +=
            static_cast<double>(work.units[static_cast<std::size_t>(u)].chunks()) / game_.chunks;
      }
      const auto index = static_cast<std::size_t>(i);
      double takes = times.base[index] + times.rate[index] * load;
      if (times.queued) takes += std::max(0.0, free_at_[index] - clock_);
      free_at_[index] = clock_ + takes;
      answers.emplace_back(takes, units);
    }
    for (std::size_t u = 0; u < work.units.size(); ++u) {
      const double arrives = work.units[u].arrives;
      if (arrives < kNoArrival) answers.push_back({arrives - clock_, {static_cast<int>(u)}});
    }
    std::ranges::sort(answers);
    std::vector<char> done(work.units.size(), 0);
    double now = 0;
    for (const auto& [when, units] : answers) {
      if (may_close(setting_, work, done)) break;
      now = when;
      for (const int u : units) done[static_cast<std::size_t>(u)] = 1;
    }
    EXPECT_TRUE(may_close(setting_, work, done));
    for (const auto& [when, units] : answers) {
      for (const int u : units) {
        Unit& unit = work.units[static_cast<std::size_t>(u)];
        unit.done = unit.done || when <= now;
        if (accept_late_) unit.arrives = std::min(unit.arrives, clock_ + when);
      }
    }
    keep_remainder(work, ledger_);
    clock_ += now;
    return now;
  }

 private:
  Game game_;
  Setting setting_;
  bool accept_late_;
  Ledger ledger_;
  double clock_ = 0;
  std::vector<double> free_at_;  ///< by worker, where orders queue
};

TEST(RelayShadow, ClosesWhenAPlayEventByEventDoes) {
  RandomStream random(31, "shadow");
  for (int repetition = 0; repetition < 300; ++repetition) {
    const int groups = 1 + static_cast<int>(random.below(3));
    const int n = groups * (1 + static_cast<int>(random.below(7)));
    const Game game = endless(n, 1 + static_cast<int>(random.below(4)), groups);
    const Setting setting = random_setting(game, random);
    const bool accept_late = random.below(2) == 0;
    const bool queued = random.below(2) == 0;
    ShadowPlayer player(game, accept_late);
    Shadow shadow;
    shadow.setting = setting;
    EventByEvent slow(game, setting, accept_late);
    for (int round = 0; round < 12; ++round) {
      RoundTimes times = random_times(n, round, random);
      times.queued = queued;
      ASSERT_NEAR(player.play(times, shadow), slow.play(times), kTolerance)
          << "repetition " << repetition << ", round " << round;
    }
  }
}

TEST(RelayShadow, RescueIsNeverTheSlowerWay) {
  RandomStream random(32, "rescue");
  for (int repetition = 0; repetition < 200; ++repetition) {
    const Game game = endless(12, 1);
    Setting setting = random_setting(game, random);
    ShadowPlayer player(game, false);
    Shadow plain{setting, {}, 0, 0, 0};
    setting.rescue = true;
    Shadow rescued{setting, {}, 0, 0, 0};
    const RoundTimes times = random_times(12, 0, random);
    EXPECT_LE(player.play(times, rescued), player.play(times, plain) + kTolerance);
  }
}

TEST(RelayShadow, TheBestIsTheCheapestWithAMemoryOfSixteenRounds) {
  RandomStream random(33, "best");
  const Game game = endless(16, 1);
  const std::vector<Setting> candidates = candidate_settings(game, {1}, false);
  ShadowRuns runs(game, candidates, false);
  EXPECT_FALSE(runs.best({}).has_value());
  std::vector<double> cost(candidates.size(), 0);
  std::vector<Shadow> shadows(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) shadows[c].setting = candidates[c];
  ShadowPlayer player(game, false);
  for (int round = 0; round < 30; ++round) {
    const RoundTimes times = random_times(16, round, random);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      cost[c] = 15.0 / 16 * cost[c] + player.play(times, shadows[c]);
    }
    runs.learn(times);
    while (runs.study()) {
    }
    const Setting best = *runs.best({});
    const double least = *std::ranges::min_element(cost);
    const auto found = std::ranges::find_if(candidates, [&](const Setting& setting) {
      return setting.copies == best.copies && setting.by_speed == best.by_speed &&
             setting.by_id == best.by_id;
    });
    ASSERT_NE(found, candidates.end());
    EXPECT_NEAR(cost[static_cast<std::size_t>(found - candidates.begin())], least, kTolerance);
  }
}

double total(const std::string& text, const test::Times& times, int jobs) {
  const int n = static_cast<int>(times.rate.size());
  auto scheme = make_scheme(text, {.workers = n, .jobs = jobs, .keep_promise = false});
  PACELINE_CHECK(scheme.has_value());
  test::Player player(*std::move(scheme), times);
  PACELINE_CHECK(player.play(jobs));
  return player.total();
}

TEST(RelayShadow, NoRedundancyWhereWorkersAreAlike) {
  test::Times times;
  times.base.assign(61, std::vector<double>(16, 1.0));
  times.rate.assign(16, 16.0);
  // Uncoded: 2 seconds a round. Relay starts with three copies, and knows better after two rounds.
  EXPECT_NEAR(total("uncoded", times, 60), 120, 1e-6);
  EXPECT_LT(total("relay:T=0", times, 60), 120 * 1.08);
  EXPECT_LT(total("gc:s=auto", times, 60), 120 * 1.08);
}

TEST(RelayShadow, AutomaticRepetitionComesCloseToTheBestInHindsight) {
  RandomStream random(34, "automatic");
  for (const std::uint64_t odds : {3, 10}) {
    test::Times times;
    for (int round = 0; round < 121; ++round) {
      times.base.emplace_back();
      for (int i = 0; i < 24; ++i) {
        times.base.back().push_back(1 + 0.1 * random.uniform() + (random.below(odds) == 0 ? 4 : 0));
      }
    }
    times.rate.assign(24, 6.0);
    double best = std::numeric_limits<double>::infinity();
    for (const int groups : {1, 2, 3, 4, 6, 8, 12, 24}) {
      best = std::min(best, total("gc:groups=" + std::to_string(groups), times, 120));
    }
    EXPECT_LT(total("gc:s=auto", times, 120), 1.06 * best) << "one slow answer in " << odds;
    EXPECT_LT(total("gc:s=auto", times, 120), 0.9 * total("uncoded", times, 120));
  }
}

}  // namespace
}  // namespace paceline::relay
