#include "schemes/relay_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "paceline/random.hpp"

namespace paceline::relay {
namespace {

Game game_of(int workers, int window) {
  return {workers, workers * kChunksPerWorker, window, 1000};
}

Forecast by_id(int workers) {
  Forecast forecast;
  for (int i = 0; i < workers; ++i) forecast.order.push_back(WorkerId{i});
  forecast.base.assign(static_cast<std::size_t>(workers), 1.0);
  forecast.rate.assign(static_cast<std::size_t>(workers), 1.0);
  return forecast;
}

Unit open_unit(int job, int begin, int end, int deadline) {
  return {JobId{job}, begin, end, Round{deadline}, false};
}

RoundWork planned(const Setting& setting,
                  const Game& game,
                  const Ledger& ledger,
                  Round round,
                  const Forecast& forecast) {
  RoundWork work;
  plan_round(setting, game, ledger, round, forecast, work);
  return work;
}

std::vector<std::vector<int>> work_of(const RoundWork& work) {
  std::vector<std::vector<int>> lists;
  for (int i = 0; i < static_cast<int>(work.first.size()); ++i) {
    lists.push_back(work.units_of(WorkerId{i}));
  }
  return lists;
}

TEST(RelayPlan, BusyWorkersGetNothingAndUnitsStayAsLarge) {
  Setting setting;
  setting.copies = 2;
  const std::vector<char> busy = {0, 1, 0, 1, 0, 0, 1, 0};
  RoundWork work;
  plan_round(setting, game_of(8, 2), {}, Round{0}, by_id(8), work, busy);
  EXPECT_EQ(work.units.size(), 4U);  // 8 workers, 2 copies
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {}, {1}, {}, {2}, {3}, {}, {3}}));
}

TEST(RelayPlan, BusyWorkersAreAskedWhereTooFewAreFree) {
  Setting setting;
  setting.bundle = 2;
  const std::vector<char> busy = {1, 0, 1, 1};
  RoundWork work;
  plan_round(setting, game_of(4, 2), {}, Round{0}, by_id(4), work, busy);
  EXPECT_EQ(work.busy, 4);
  RoundWork with_two;
  plan_round(
      setting, game_of(4, 2), {}, Round{0}, by_id(4), with_two, std::vector<char>{1, 0, 0, 1});
  EXPECT_EQ(with_two.busy, 2);
}

TEST(RelayPlan, DealsNewUnitsInSnakeOrder) {
  Setting setting;
  setting.copies = 3;
  const RoundWork work = planned(setting, game_of(7, 2), {}, Round{0}, by_id(7));
  EXPECT_EQ(work.fresh, 2);  // round(7 / 3)
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {1}, {0}, {0}, {1}, {1}}));
}

TEST(RelayPlan, CutsEachNewJobIntoAsManyUnits) {
  Setting setting;
  setting.bundle = 3;
  setting.late_rounds = 0;
  setting.copies = 1.4;
  const RoundWork work = planned(setting, game_of(16, 3), {}, Round{4}, by_id(16));
  EXPECT_EQ(work.fresh, 12);  // round(16 / 1.4) = 11 units: 4 for each of 3 jobs
  EXPECT_EQ(work.started, 3);
  std::vector<int> chunks(3, 0);
  for (const Unit& unit : work.units) {
    chunks[unit.job.index()] += unit.chunks();
    EXPECT_EQ(unit.deadline, Round{4});
  }
  EXPECT_EQ(chunks, std::vector<int>(3, 16 * kChunksPerWorker));
}

TEST(RelayPlan, GivesOpenUnitsToTheFastestWorkersOldestFirst) {
  Setting setting;
  setting.late_rounds = 2;
  setting.copies = 1;
  setting.due_copies = 3;
  setting.mid_copies = 1;
  const Ledger ledger{{open_unit(0, 0, 80, 2), open_unit(1, 64, 128, 3)}, 2};
  const RoundWork work = planned(setting, game_of(8, 3), ledger, Round{2}, by_id(8));
  EXPECT_EQ(work.fresh, 4);
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {0}, {0}, {2}, {3}, {4}, {5}}));
}

TEST(RelayPlan, TakesSecondCopiesAwayFromYoungUnitsFirst) {
  Setting setting;
  setting.late_rounds = 2;
  setting.copies = 1;
  setting.due_copies = 4;
  setting.mid_copies = 4;
  const Ledger ledger{{open_unit(0, 0, 64, 2), open_unit(1, 0, 64, 3), open_unit(1, 64, 128, 3)},
                      2};
  // Open units may take 6 of 8 workers: four copies for the due one, one for each of the others.
  const RoundWork work = planned(setting, game_of(8, 3), ledger, Round{2}, by_id(8));
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {2}, {0}, {0}, {0}, {3}, {4}}));
}

TEST(RelayPlan, LeavesYoungUnitsWithoutAWorkerWhenThereAreTooMany) {
  Setting setting;
  setting.late_rounds = 2;
  setting.copies = 1;
  Ledger ledger{{open_unit(0, 0, 64, 2)}, 2};
  for (int i = 0; i < 4; ++i) ledger.units.push_back(open_unit(1, 64 * i, 64 * i + 64, 3));
  const RoundWork work = planned(setting, game_of(4, 3), ledger, Round{2}, by_id(4));
  EXPECT_EQ(work.assigned, (std::vector<char>{true, true, true, false, false, true}));
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {2}, {5}}));
}

TEST(RelayPlan, GivesSeveralDueUnitsToOneWorkerOnlyWhenTheyOutnumberTheWorkers) {
  Setting setting;
  Ledger ledger{{}, 1};
  for (int i = 0; i < 5; ++i) ledger.units.push_back(open_unit(0, 32 * i, 32 * i + 32, 1));
  const RoundWork work = planned(setting, game_of(3, 2), ledger, Round{1}, by_id(3));
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0, 3}, {1, 4}, {2}}));
  ASSERT_EQ(work.units.size(), 6U);  // the new job waits whole
  EXPECT_EQ(work.units.back(), open_unit(1, 0, 3 * kChunksPerWorker, 2));
  EXPECT_FALSE(work.assigned.back());
  EXPECT_EQ(work.fresh, 0);
}

TEST(RelayPlan, LetsNewJobsWaitWholeForWhichNoWorkerIsLeft) {
  Setting setting;
  setting.bundle = 2;
  setting.copies = 1;
  const Ledger ledger{{open_unit(0, 0, 32, 1), open_unit(1, 0, 32, 1)}, 2};
  const RoundWork work = planned(setting, game_of(3, 4), ledger, Round{1}, by_id(3));
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {2}}));
  EXPECT_EQ(work.units[2], open_unit(2, 0, 3 * kChunksPerWorker, 2));
  EXPECT_EQ(work.units[3], open_unit(3, 0, 3 * kChunksPerWorker, 2));
  EXPECT_EQ(work.assigned, (std::vector<char>{true, true, true, false}));
}

TEST(RelayPlan, SpreadsTheLastUnitsOverAllWorkers) {
  Setting setting;
  Game game = game_of(7, 2);
  game.jobs = 1;
  const Ledger ledger{{open_unit(0, 0, 64, 9), open_unit(0, 128, 192, 9)}, 1};
  const RoundWork work = planned(setting, game, ledger, Round{1}, by_id(7));
  EXPECT_TRUE(work.drain);
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {0}, {1}, {0}, {1}, {}}));
  EXPECT_FALSE(may_close(setting, work, {true, false}));
}

TEST(RelayPlan, SplitsOpenUnitsIntoPiecesOfOneNthUnlessTheyAreTooMany) {
  Setting setting;
  setting.split = true;
  setting.mid_copies = 1;
  setting.late_rounds = 2;
  const Ledger ledger{{open_unit(0, 0, 192, 5), open_unit(0, 192, 256, 5)}, 1};
  const RoundWork split = planned(setting, game_of(8, 3), ledger, Round{1}, by_id(8));
  EXPECT_EQ(split.units[1], open_unit(0, 64, 128, 5));
  EXPECT_EQ(split.units[3], open_unit(0, 192, 256, 5));
  Ledger many = ledger;
  many.units.push_back(open_unit(0, 256, 512, 5));
  const RoundWork whole = planned(setting, game_of(8, 3), many, Round{1}, by_id(8));
  EXPECT_EQ(whole.units[0], ledger.units[0]);
}

TEST(RelayPlan, ClosesWhenAllDueUnitsAndEnoughOthersAreDone) {
  Setting setting;
  setting.late_rounds = 1;
  setting.copies = 1;
  setting.threshold = 0.4;
  const Ledger ledger{{open_unit(0, 0, 64, 1)}, 1};
  const RoundWork work = planned(setting, game_of(6, 2), ledger, Round{1}, by_id(6));
  ASSERT_EQ(work.fresh, 2);  // four workers have the due unit
  setting.threshold = 0.5;
  EXPECT_TRUE(may_close(setting, work, {true, true, false}));
  EXPECT_FALSE(may_close(setting, work, {false, true, true}));
  EXPECT_FALSE(may_close(setting, work, {true, false, false}));
  setting.threshold = 0;
  EXPECT_FALSE(may_close(setting, work, {true, true, false}));
  EXPECT_TRUE(may_close(setting, work, {true, true, true}));
}

TEST(RelayPlan, GivesAProbedWorkerASpareCopy) {
  Setting setting;
  setting.copies = 1;
  Forecast forecast = by_id(5);
  forecast.order.erase(forecast.order.begin() + 2);
  forecast.probes = {WorkerId{2}};
  const RoundWork work = planned(setting, game_of(5, 2), {}, Round{10}, forecast);
  EXPECT_EQ(work_of(work), (std::vector<std::vector<int>>{{0}, {1}, {3}, {2}, {3}}));
  EXPECT_EQ(work.busy, 4);
}

TEST(RelayPlan, SharesOutRescueCopiesAmongTheHelpers) {
  using Given = std::vector<std::vector<int>>;
  Setting setting;
  setting.copies = 1;
  const Game game = game_of(10, 1);
  const RoundWork work = planned(setting, game, {}, Round{0}, by_id(10));
  const auto given = [&](const std::vector<int>& units, int helpers) {
    std::vector<WorkerId> ids;
    for (int i = 0; i < helpers; ++i) ids.push_back(WorkerId{i});
    Given lists;
    for (const Help& help : share_out(units, ids, game, work)) lists.push_back(help.units);
    return lists;
  };
  EXPECT_EQ(given({4, 7}, 8), (Given{{4}, {7}, {4}, {7}, {4}, {7}}));
  EXPECT_EQ(given({4, 7}, 3), (Given{{4}, {7}, {4}}));
  EXPECT_EQ(given({4, 7, 9}, 2), (Given{{4, 9}, {7}}));
  EXPECT_TRUE(given({4}, 0).empty());
}

TEST(RelayPlan, GivesUnitsOnlyToWorkersThatHoldThem) {
  RandomStream random(9, "parts");
  for (int repetition = 0; repetition < 500; ++repetition) {
    const int groups = 1 + static_cast<int>(random.below(4));
    const int holders = 1 + static_cast<int>(random.below(5));
    const int n =
        groups * holders + static_cast<int>(random.below(static_cast<std::uint64_t>(groups)));
    Game game = game_of(n, 3);
    game.groups = groups;
    game.chunks *= groups;
    Setting setting;
    setting.late_rounds = 2;
    setting.copies = 1 + static_cast<double>(random.below(3));
    setting.copies = std::min<double>(setting.copies, holders);
    setting.by_speed = random.below(2) == 0;
    setting.split = random.below(2) == 0;
    Ledger ledger;
    RoundWork work;
    for (int round = 0; round < 6; ++round) {
      plan_round(setting, game, ledger, Round{round}, by_id(n), work);
      const int part = game.chunks / groups;
      std::vector<int> started(3, 0);
      int total = 0;
      for (std::size_t u = 0; u < work.units.size(); ++u) {
        const Unit& unit = work.units[u];
        EXPECT_EQ(unit.begin / part, (unit.end - 1) / part);
        if (u > 0) {
          const Unit& before = work.units[u - 1];
          EXPECT_TRUE(before.job < unit.job ||
                      (before.job == unit.job && before.end <= unit.begin));
        }
        total += unit.job.value == work.started - 1 ? unit.chunks() : 0;
      }
      if (!work.drain) {
        EXPECT_EQ(total, game.chunks);
      }
      for (int i = 0; i < n; ++i) {
        for (const int unit : work.units_of(WorkerId{i})) {
          EXPECT_EQ(work.units[static_cast<std::size_t>(unit)].begin / part, i % groups);
        }
      }
      for (std::size_t u = 0; u < work.units.size(); ++u) {
        work.units[u].done = work.due(work.units[u]) || random.below(3) > 0;
      }
      keep_remainder(work, ledger);
    }
  }
}

// The water level by bisection.
std::vector<double> sizes_by_bisection(const std::vector<double>& base,
                                       const std::vector<double>& rate,
                                       double total) {
  double low = 0;
  double high = 1e6;
  std::vector<double> sizes(base.size());
  for (int step = 0; step < 200; ++step) {
    const double tau = (low + high) / 2;
    for (std::size_t q = 0; q < base.size(); ++q) {
      sizes[q] = std::max(0.0, tau - base[q]) / rate[q];
    }
    (std::accumulate(sizes.begin(), sizes.end(), 0.0) < total ? low : high) = tau;
  }
  const double equal = total / static_cast<double>(base.size());
  for (double& size : sizes) size = std::clamp(size, equal / 8, equal * 8);
  return sizes;
}

TEST(RelayPlan, SizesUnitsSoThatTheirWorkersFinishTogether) {
  RandomStream random(7, "sizes");
  for (int repetition = 0; repetition < 200; ++repetition) {
    const std::size_t k = 1 + random.below(12);
    std::vector<double> base;
    std::vector<double> rate;
    for (std::size_t q = 0; q < k; ++q) {
      base.push_back(3 * random.uniform());
      rate.push_back(0.5 + 5 * random.uniform());
    }
    const double total = 1.0 + static_cast<double>(random.below(3));
    const std::vector<double> sizes = sizes_by_speed(base, rate, total);
    const std::vector<double> slow = sizes_by_bisection(base, rate, total);
    for (std::size_t q = 0; q < k; ++q) EXPECT_NEAR(sizes[q], slow[q], 1e-9);
  }
}

TEST(RelayPlan, SizesUnitsEquallyWhenNobodyReportsComputing) {
  EXPECT_EQ(sizes_by_speed({0, 5}, {0, 0}, 1), (std::vector<double>{0.5, 0.5}));
}

/// A ledger such as rounds leave it: of up to `window - 1` jobs, some units open.
Ledger random_ledger(const Game& game, int round, RandomStream& random) {
  Ledger ledger{{}, game.window - 1};
  for (int job = 0; job + 1 < game.window; ++job) {
    const int units = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(game.workers)));
    for (int q = 0; q < units; ++q) {
      if (random.below(2) == 0) continue;
      ledger.units.push_back(
          open_unit(job, game.chunks * q / units, game.chunks * (q + 1) / units, round + job));
    }
  }
  return ledger;
}

Setting random_setting(int window, RandomStream& random) {
  Setting setting;
  setting.late_rounds = window - 1;
  setting.copies = 1 + 3 * random.uniform();
  setting.threshold = random.below(2) == 0 ? 0 : random.uniform();
  setting.due_copies = 1 + static_cast<int>(random.below(8));
  setting.mid_copies = 1 + static_cast<int>(random.below(2));
  setting.split = random.below(2) == 0;
  setting.by_speed = random.below(2) == 0;
  return setting;
}

Forecast random_forecast(int workers, RandomStream& random) {
  Forecast forecast;
  for (const int i : random.permutation(workers)) forecast.order.push_back(WorkerId{i});
  for (int i = 0; i < workers; ++i) {
    forecast.base.push_back(random.uniform());
    forecast.rate.push_back(0.1 + 10 * random.uniform());
  }
  return forecast;
}

TEST(RelayPlan, GivesEachWorkerOneUnitUnlessDueUnitsOutnumberTheWorkers) {
  RandomStream random(8, "one vector");
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const int n = 1 + static_cast<int>(random.below(20));
    const int window = 1 + static_cast<int>(random.below(4));
    const Game game = game_of(n, window);
    const Ledger ledger = random_ledger(game, 50, random);
    const RoundWork work = planned(
        random_setting(window, random), game, ledger, Round{50}, random_forecast(n, random));
    int due = 0;
    int open_chunks = 0;
    std::set<int> assigned;
    for (std::size_t u = 0; u < work.units.size(); ++u) {
      EXPECT_GT(work.units[u].chunks(), 0);
      open_chunks += work.units[u].chunks();
      due += work.due(work.units[u]) ? 1 : 0;
      EXPECT_TRUE(work.assigned[u] || !work.due(work.units[u]));
    }
    for (const auto& list : work_of(work)) {
      EXPECT_TRUE(list.size() == 1 || due > n);
      assigned.insert(list.begin(), list.end());
    }
    for (std::size_t u = 0; u < work.units.size(); ++u) {
      EXPECT_EQ(work.assigned[u] != 0, assigned.count(static_cast<int>(u)) == 1);
    }
    int expected = game.chunks;
    for (const Unit& unit : ledger.units) expected += unit.chunks();
    EXPECT_EQ(open_chunks, expected);  // nothing is lost, one job is new
  }
}

}  // namespace
}  // namespace paceline::relay
