#include "schemes/relay_learn.hpp"

#include <gtest/gtest.h>

#include "paceline/random.hpp"

namespace paceline::relay {
namespace {

constexpr double kTolerance = 1e-12;
constexpr Game kGame{3, 3 * kChunksPerWorker, 2, 10};

void learn(std::vector<WorkerHistory>& workers, Record& record, double fallback) {
  Buffers buffers;
  learn_round(workers, record, fallback, buffers);
}

Forecast see(const std::vector<WorkerHistory>& workers,
             const Setting& setting,
             const Game& game,
             Round round) {
  Buffers buffers;
  return forecast(workers, setting, game, round, {}, buffers);
}

/// A round in which each of three workers has a third of the job.
Record three_workers() {
  const Game game{3, 192, 1, 10};
  RoundWork work;
  work.units = {{JobId{0}, 0, 64, Round{0}, false},
                {JobId{0}, 64, 128, Round{0}, false},
                {JobId{0}, 128, 192, Round{0}, false}};
  work.first = {0, 1, 2};
  work.count = {1, 1, 1};
  return open_record(work, Forecast{}, game);
}

Answers answered(std::vector<double> times, double compute) {
  Answers answers(static_cast<int>(times.size()));
  for (std::size_t i = 0; i < times.size(); ++i) {
    answers.done[i] = 1;
    answers.time[i] = Seconds(times[i]);
    answers.compute[i] = Seconds(compute);
  }
  return answers;
}

TEST(RelayLearn, TakesTheFirstSampleAndAveragesTheNext) {
  std::vector<WorkerHistory> workers(3);
  Record first = three_workers();
  take_samples(first, answered({1.0, 2.0, 5.0}, 0.5));
  learn(workers, first, 0);
  EXPECT_NEAR(first.median, 1.5, kTolerance);
  EXPECT_NEAR(workers[2].lateness, 3.0, kTolerance);  // 4.5 - 1.5
  EXPECT_NEAR(workers[2].base, 4.5, kTolerance);
  EXPECT_NEAR(workers[2].rate, 1.5, kTolerance);  // 0.5 s for a third
  Record second = three_workers();
  take_samples(second, answered({1.0, 2.0, 3.0}, 1.0));
  learn(workers, second, 0);
  EXPECT_NEAR(workers[2].lateness, (3.0 + 1.0) / 2, kTolerance);
  EXPECT_NEAR(workers[2].base, (4.5 + 2.0) / 2, kTolerance);
  EXPECT_NEAR(workers[2].rate, (1.5 + 3.0) / 2, kTolerance);
}

TEST(RelayLearn, ForgetsWithAMemoryOfTenRounds) {
  std::vector<WorkerHistory> workers(3);
  workers[0] = {.lateness = 0, .base = 1, .rate = 1, .count = 50, .rated = true};
  Record record = three_workers();
  take_samples(record, answered({11.0, 1.0, 1.0}, 0.0));
  learn(workers, record, 0);
  EXPECT_NEAR(workers[0].base, 2.0, kTolerance);
  EXPECT_NEAR(workers[0].rate, 0.9, kTolerance);
}

TEST(RelayLearn, LearnsLateAnswersAgainstTheMedianOfTheirRound) {
  std::vector<WorkerHistory> workers(3);
  workers[2].silent = 3;
  Record record = three_workers();
  Answers answers = answered({1.0, 2.0, 0.0}, 0.0);
  answers.done[2] = 0;
  take_samples(record, answers);
  learn(workers, record, 0);
  EXPECT_EQ(workers[2].count, 0);
  note_sample(record, WorkerId{2}, 8.0, 0.5, 0.0);
  learn_late(workers, record, std::vector{WorkerId{2}});
  EXPECT_NEAR(workers[2].lateness, 7.5 - 2.0, kTolerance);
  EXPECT_EQ(workers[2].silent, 0);
  EXPECT_TRUE(mature(record, Round{0}));
}

TEST(RelayLearn, CountsAMissingWorkerAsLateAsItIsKnownToBeAfterThreeMoreRounds) {
  std::vector<WorkerHistory> workers(3);
  Record record = three_workers();
  Answers answers = answered({1.0, 2.0, 0.0}, 0.0);
  answers.done[2] = 0;
  take_samples(record, answers);
  learn(workers, record, 0);
  EXPECT_FALSE(mature(record, Round{2}));
  EXPECT_TRUE(mature(record, Round{3}));
  record.elapsed = 9;
  learn_silence(workers, record, false);
  EXPECT_NEAR(workers[2].base, 9.0, kTolerance);
  EXPECT_NEAR(workers[2].lateness, 9.0 - 2.0, kTolerance);
  EXPECT_EQ(workers[2].silent, 1);
  EXPECT_EQ(workers[0].silent, 0);
  EXPECT_FALSE(workers[2].rated);
}

TEST(RelayLearn, DoesNotBlameAWorkerForTheTimeThatItsOrderWaited) {
  std::vector<WorkerHistory> workers(3);
  Record record = three_workers();
  Answers answers = answered({1.0, 2.0, 5.0}, 0.5);
  answers.waited[2] = Seconds{3.5};
  take_samples(record, answers);
  learn(workers, record, 0);
  EXPECT_NEAR(workers[2].base, 1.0, kTolerance);  // 5 - 3.5 - 0.5
  EXPECT_NEAR(workers[2].rate, 1.5, kTolerance);
}

TEST(RelayLearn, AWorkerThatOwesAnOlderAnswerIsSilentButNotSlower) {
  std::vector<WorkerHistory> workers(3);
  for (const bool owes : {false, true}) {
    Record record = three_workers();
    Answers answers = answered({1.0, 2.0, 0.0}, 0.0);
    answers.done[2] = 0;
    take_samples(record, answers);
    learn(workers, record, 0);
    record.elapsed = owes ? 90 : 9;
    learn_silence(workers, record, true);
    EXPECT_NEAR(workers[2].base, 9.0, kTolerance);
    EXPECT_EQ(workers[2].silent, owes ? 2 : 1);
    EXPECT_EQ(workers[2].owed, owes ? 2 : 1);
  }
}

TEST(RelayLearn, OrdersByLatenessPlusExpectedComputing) {
  std::vector<WorkerHistory> workers(4);
  for (auto& worker : workers) worker = {.count = 5, .rated = true};
  workers[0].lateness = 1;
  workers[1].rate = 1;  // 1 * 2/4 s
  workers[2].lateness = -0.5;
  Setting setting;
  setting.copies = 2;
  const Forecast result = see(workers, setting, kGame, Round{3});
  EXPECT_EQ(result.order,
            (std::vector<WorkerId>{WorkerId{2}, WorkerId{3}, WorkerId{1}, WorkerId{0}}));
}

TEST(RelayLearn, TakesTheMeanRateForAWorkerThatHasNotAnswered) {
  std::vector<WorkerHistory> workers(3);
  workers[0] = {.base = 1, .rate = 4, .count = 5, .rated = true};
  workers[1] = {.base = 3, .rate = 8, .count = 5, .rated = true};
  const Forecast result = see(workers, Setting{}, kGame, Round{0});
  EXPECT_NEAR(result.rate[2], 6, kTolerance);
  EXPECT_NEAR(result.base[2], 2, kTolerance);
  EXPECT_NEAR(
      see(std::vector<WorkerHistory>(2), Setting{}, kGame, Round{0}).rate[0], 1, kTolerance);
}

TEST(RelayLearn, LeavesSilentWorkersOutAndProbesThemEveryTenthRound) {
  std::vector<WorkerHistory> workers(3);
  workers[1].silent = 5;
  workers[2].silent = 4;
  const std::vector<WorkerId> live = {WorkerId{0}, WorkerId{2}};
  EXPECT_EQ(see(workers, Setting{}, kGame, Round{19}).order, live);
  EXPECT_TRUE(see(workers, Setting{}, kGame, Round{19}).probes.empty());
  EXPECT_EQ(see(workers, Setting{}, kGame, Round{20}).order, live);
  EXPECT_EQ(see(workers, Setting{}, kGame, Round{20}).probes, (std::vector<WorkerId>{WorkerId{1}}));
}

TEST(RelayLearn, PlansWithAllWorkersWhenAllAreSilent) {
  std::vector<WorkerHistory> workers(3);
  for (auto& worker : workers) worker.silent = 9;
  EXPECT_EQ(see(workers, Setting{}, kGame, Round{5}).order.size(), 3U);
}

TEST(RelayLearn, RelabellingTheWorkersRelabelsThePlan) {
  RandomStream random(3, "relabel");
  for (int repetition = 0; repetition < 200; ++repetition) {
    const int n = 2 + static_cast<int>(random.below(15));
    std::vector<WorkerHistory> workers(static_cast<std::size_t>(n));
    for (auto& worker : workers) {
      worker = {.lateness = random.normal(),
                .base = random.uniform(),
                .rate = random.uniform(),
                .count = 7,
                .silent = random.below(4) == 0 ? 5 : 0,
                .rated = true};
    }
    workers[0].silent = 0;
    const std::vector<int> label = random.permutation(n);
    std::vector<WorkerHistory> relabelled(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
      relabelled[static_cast<std::size_t>(label[i])] = workers[i];
    }
    Setting setting;
    setting.copies = 1.5;
    setting.by_speed = random.below(2) == 0;
    const Game game{n, n * kChunksPerWorker, 2, 10};
    const Ledger ledger{{{JobId{0}, 0, 70, Round{9}, false}}, 1};
    const Round round{9};
    RoundWork plan;
    RoundWork other;
    plan_round(setting, game, ledger, round, see(workers, setting, game, round), plan);
    plan_round(setting, game, ledger, round, see(relabelled, setting, game, round), other);
    EXPECT_EQ(plan.units, other.units);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      EXPECT_EQ(plan.first[i], other.first[static_cast<std::size_t>(label[i])]);
    }
  }
}

}  // namespace
}  // namespace paceline::relay
