#include "support/scheme_conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace paceline::test {
namespace {

constexpr int kRuns = 12;  // random runs per check; seeds 0 ... 11

/// More rounds than any run takes.
int round_limit(const SchemePlayer& player, const SchemeInfo& info, int jobs) {
  return player.round().value + jobs + 2 * info.decode_delay + 4;
}

template <class PerRound>
void play_all(SchemePlayer& player, int jobs, const PerRound& play_one) {
  const int limit = round_limit(player, player.scheme().info(), jobs);
  while (!player.finished() && player.round().value < limit && player.problem().empty()) {
    play_one();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(player.problem(), "");
  EXPECT_TRUE(player.finished());
}

/// One worker that still has something to answer; the last quarter of the workers seldom.
WorkerId pick(const WorkerSet& missing, RandomStream& random) {
  const int n = missing.workers();
  while (true) {
    const WorkerId worker{static_cast<int>(random.below(static_cast<std::uint64_t>(n)))};
    const bool slow = 4 * worker.value >= 3 * n;
    if (missing.contains(worker) && (!slow || random.below(8) == 0)) return worker;
  }
}

}  // namespace

std::unique_ptr<Scheme> ConformanceCase::make() const {
  if (build) return build(*this);
  auto made = make_scheme(scheme, {.workers = workers, .jobs = jobs, .rule = rule, .seed = 1});
  if (!made) {
    ADD_FAILURE() << made.error().message;
    return nullptr;
  }
  return std::move(made).value();
}

std::vector<Decoding> play_random_round(SchemePlayer& player, RandomStream& random) {
  double now = 1;
  if (player.round().value > 0 && random.below(3) == 0) {
    const auto n = static_cast<std::uint64_t>(player.scheme().info().workers);
    player.answer_late(WorkerId{static_cast<int>(random.below(n))},
                       Round{player.round().value - 1});
  }
  for (WorkerSet missing = player.missing(); missing.size() > 0; missing = player.missing()) {
    if (player.may_close() && random.below(3) == 0) break;
    player.answer(pick(missing, random), Seconds{now += random.uniform()});
  }
  EXPECT_TRUE(player.may_close());
  return player.close();
}

void expect_consistent_info(const ConformanceCase& test) {
  const auto scheme = test.make();
  ASSERT_NE(scheme, nullptr);
  const SchemeInfo& info = scheme->info();
  EXPECT_EQ(info.workers, test.workers);
  EXPECT_GT(info.load, 0);
  EXPECT_GE(info.decode_delay, 0);
  EXPECT_GE(info.jobs_per_round, 1);
  EXPECT_LE(info.open_jobs, info.jobs_per_round * (info.decode_delay + 1));
  EXPECT_GE(info.messages_per_round, 1);
  EXPECT_GE(info.amplification_limit, 1);
  EXPECT_GT(info.error_bound, 0);
  double sum = 0;
  for (const double size : info.chunk_size) {
    EXPECT_GE(size, 0);
    sum += size;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  // The label is a text that makes the same scheme.
  ConformanceCase again = test;
  again.scheme = info.label();
  const auto copy = again.make();
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->info().label(), info.label());
  EXPECT_TRUE(same_plan(copy->plan(Round{0}), scheme->plan(Round{0})));
}

void expect_all_answers_close(const ConformanceCase& test) {
  SchemePlayer player = test.player();
  play_all(player, test.jobs, [&] {
    while (player.missing().size() > 0) {
      player.answer_all_but(player.missing().complement());
    }
    ASSERT_TRUE(player.may_close());
    player.close();
  });
}

void expect_every_job_exact_and_in_time(const ConformanceCase& test) {
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    RandomStream random(run, "conformance");
    SchemePlayer player = test.player();
    play_all(player, test.jobs, [&] { play_random_round(player, random); });
  }
}

void expect_more_answers_never_hurt(const ConformanceCase& test) {
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    RandomStream random(run, "conformance");
    SchemePlayer player = test.player();
    play_all(player, test.jobs, [&] {
      SchemePlayer other = player;  // answers on after the round may close
      bool could = false;
      while (other.missing().size() > 0) {
        other.answer(pick(other.missing(), random));
        const bool can = other.may_close();
        EXPECT_TRUE(can || !could);
        could = can;
      }
      EXPECT_TRUE(could || player.missing().size() == 0);
      play_random_round(player, random);
    });
  }
}

void expect_asking_changes_nothing(const ConformanceCase& test) {
  RandomStream random(0, "conformance");
  SchemePlayer player = test.player();
  play_all(player, test.jobs, [&] {
    EXPECT_TRUE(same_plan(player.scheme().plan(player.round()), player.plan()));
    const bool before = player.may_close();
    EXPECT_TRUE(same_plan(player.scheme().plan(player.round()), player.plan()));
    EXPECT_EQ(player.may_close(), before);
    play_random_round(player, random);
  });
}

void expect_copies_go_on_alike(const ConformanceCase& test) {
  RandomStream random(0, "conformance");
  SchemePlayer player = test.player();
  play_all(player, test.jobs, [&] {
    SchemePlayer copy = player;
    RandomStream same = random;
    RandomStream later = random;
    EXPECT_TRUE(same_decodings(play_random_round(player, random), play_random_round(copy, same)));
    EXPECT_TRUE(same_plan(player.plan(), copy.plan()));
    SchemePlayer third = copy;  // playing a copy leaves the original where it was
    play_random_round(third, later);
    EXPECT_TRUE(same_plan(copy.scheme().plan(copy.round()), player.plan()));
  });
}

void expect_rounds_without_messages_agree(const ConformanceCase& test) {
  if (!test.make()->timeless()) return;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    RandomStream random(run, "conformance");
    SchemePlayer player = test.player();
    const auto scheme = test.make();  // plays the same rounds without messages
    std::vector<double> loads(static_cast<std::size_t>(test.workers));
    play_all(player, test.jobs, [&] {
      const Round round = player.round();
      for (const int jobs : {test.jobs, kEndless}) {
        const int busy = scheme->loads(round, jobs, loads);
        EXPECT_EQ(busy, static_cast<int>(std::ranges::count_if(loads, [](double load) {
                    return load != Scheme::kNoWork;
                  })));
        for (std::size_t i = 0; i < loads.size(); ++i) {
          double load = 0;
          bool works = false;
          for (const MiniTask& task : player.plan().per_worker[i]) {
            const bool counts = jobs == kEndless || (task.job.value >= 0 && task.job.value < jobs);
            load += counts ? task.load : 0;
            works = works || counts;
          }
          EXPECT_EQ(loads[i], works ? load : Scheme::kNoWork);
        }
      }
      double now = 1;
      WorkerSet missing = player.missing();
      for (; missing.size() > 0; missing = player.missing()) {
        EXPECT_EQ(scheme->may_pass(round, missing), player.may_close());
        if (player.may_close() && random.below(3) == 0) break;
        player.answer(pick(missing, random), Seconds{now += random.uniform()});
      }
      EXPECT_TRUE(scheme->may_pass(round, missing));
      const int before = player.complete();
      player.close();
      EXPECT_EQ(scheme->pass(round, missing, test.jobs), player.complete() - before);
    });
  }
}

void expect_runs_repeat(const ConformanceCase& test) {
  RandomStream random(3, "conformance");
  RandomStream again(3, "conformance");
  SchemePlayer player = test.player();
  SchemePlayer other = test.player();
  play_all(player, test.jobs, [&] {
    EXPECT_TRUE(same_plan(player.plan(), other.plan()));
    EXPECT_TRUE(same_decodings(play_random_round(player, random), play_random_round(other, again)));
  });
}

}  // namespace paceline::test
