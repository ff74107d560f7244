#include "schemes/relay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "schemes/relay_player.hpp"

namespace paceline {
namespace {

using test::kDead;
using test::PlayedRound;
using test::Player;
using test::random_times;
using test::relay_of;
using test::same_plan;
using test::Times;
using test::try_relay;

std::string random_text(int workers, int delay, RandomStream& random) {
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
  };
  int holders = 1 + below(workers);
  while (workers % holders != 0) ++holders;
  if (below(4) == 0) {  // finds its own setting
    return fmt::format("relay:T={},accept_late={},holders={}", delay, below(2), holders);
  }
  return fmt::format(
      "relay:T={},holders={},r0={},x={},due={},mid={},split={},speed={},bundle={},accept_late={}",
      delay,
      holders,
      1 + (holders - 1) * random.uniform() / 2,
      below(3) == 0 ? 0 : random.uniform(),
      1 + below(workers),
      1 + below(std::min(3, workers)),
      below(2),
      8 * below(2),
      1 + below(delay + 1),
      below(2));
}

/// How often each chunk of the decoded job is in its sum. Messages are those of `rounds`.
std::vector<double> coverage(const Decoding& decoding,
                             const std::vector<PlayedRound>& rounds,
                             std::size_t chunks) {
  std::vector<double> count(chunks, 0);
  for (const Coefficient& term : decoding.terms) {
    const PlayedRound& round = rounds[term.message.round.index()];
    const auto& list = round.all.per_worker[term.message.worker.index()];
    const MiniTask& task = list[static_cast<std::size_t>(term.message.task)];
    EXPECT_EQ(task.job, decoding.job);
    for (const Term& chunk : task.row.terms()) {
      for (int c = 0; c < chunk.count; ++c) {
        count[chunk.chunk.index() + static_cast<std::size_t>(c)] += term.weight * chunk.weight;
      }
    }
  }
  return count;
}

std::unique_ptr<Scheme> scheme_of(const std::string& text, int workers) {
  auto scheme = make_scheme(text, {.workers = workers, .keep_promise = false});
  PACELINE_CHECK(scheme.has_value());
  return *std::move(scheme);
}

std::set<int> jobs_of(const RoundPlan& plan) {
  std::set<int> jobs;
  for (const auto& list : plan.per_worker) {
    for (const MiniTask& task : list) jobs.insert(task.job.value);
  }
  return jobs;
}

TEST(Relay, DecodesEveryJobFromEachSampleOnceAndInTime) {
  RandomStream random(1, "exactness");
  for (int repetition = 0; repetition < 150; ++repetition) {
    const int n = 1 + static_cast<int>(random.below(20));
    const int delay = static_cast<int>(random.below(5));
    const int jobs = 1 + static_cast<int>(random.below(20));
    const std::string text = random_text(n, delay, random);
    SCOPED_TRACE(fmt::format("repetition {}, n={}, jobs={}, {}", repetition, n, jobs, text));
    Player player(relay_of(text, n, jobs), random_times(50, n, 4, random));
    const SchemeInfo info = player.scheme().info();
    const bool fixed = text.find(",x=") != std::string::npos;
    ASSERT_TRUE(
        player.play((fixed ? jobs / info.jobs_per_round : jobs) + 2 * info.decode_delay + 4));
    std::set<int> started;
    std::set<int> decoded;
    std::map<int, int> first_round;
    for (std::size_t r = 0; r < player.rounds().size(); ++r) {
      const PlayedRound& round = player.rounds()[r];
      for (const int job : jobs_of(round.all)) {
        first_round.emplace(job, static_cast<int>(r));
        EXPECT_TRUE(job <= delay || decoded.contains(job - delay - 1));
      }
      started.merge(jobs_of(round.all));
      EXPECT_LE(static_cast<int>(started.size() - decoded.size()), info.open_jobs);
      for (const Decoding& decoding : round.decoded) {
        EXPECT_TRUE(decoded.insert(decoding.job.value).second);
        const auto count = coverage(decoding, player.rounds(), info.chunk_size.size());
        EXPECT_EQ(count, std::vector<double>(info.chunk_size.size(), 1.0));
        const int job = decoding.job.value;
        const int planned = fixed ? job / info.jobs_per_round : first_round.at(job);
        EXPECT_LE(static_cast<int>(r), planned + info.decode_delay);
      }
    }
    EXPECT_EQ(static_cast<int>(decoded.size()), jobs);
    EXPECT_LE(info.open_jobs, delay + 1);
  }
}

TEST(Relay, MayCloseIsMonotoneAndTrueWhenEveryoneHasAnswered) {
  RandomStream random(2, "monotone");
  for (int repetition = 0; repetition < 60; ++repetition) {
    const int n = 1 + static_cast<int>(random.below(12));
    const int delay = static_cast<int>(random.below(4));
    const std::string text = random_text(n, delay, random);
    SCOPED_TRACE(text);
    Player player(relay_of(text, n), random_times(20, n, 4, random));
    for (int r = 0; r < 10; ++r) {
      const Round round{r};
      const RoundPlan plan = player.scheme().plan(round);
      Answers answers(n);
      bool before = player.scheme().may_close(round, answers);
      for (const int i : random.permutation(n)) {
        const auto w = static_cast<std::size_t>(i);
        answers.done[w] = static_cast<int>(plan.per_worker[w].size());
        answers.time[w] = Seconds(1);
        const bool now = player.scheme().may_close(round, answers);
        EXPECT_TRUE(now || !before);
        before = now;
      }
      EXPECT_TRUE(before);
      ASSERT_TRUE(player.play(1));
    }
  }
}

TEST(Relay, WithOneCopyAndNoDelayIsUncodedTraining) {
  RandomStream random(3, "uncoded");
  const int n = 64;
  const Times times = random_times(12, n, 8, random);
  Player player(relay_of("relay:T=0,r0=1,x=0", n), times);
  player.rescue = false;
  ASSERT_TRUE(player.play(12));
  double total = 0;
  for (const auto& base : times.base) {
    double slowest = 0;
    for (int i = 0; i < n; ++i) {
      const auto w = static_cast<std::size_t>(i);
      slowest = std::max(slowest, base[w] + times.rate[w] * (1.0 / n));
    }
    total += slowest;
  }
  EXPECT_DOUBLE_EQ(player.total(), total);
}

TEST(Relay, WithNoDelayIsFractionalRepetitionOnTheGroupsOfThePlan) {
  RandomStream random(4, "repetition");
  const int n = 24;
  const Times times = random_times(12, n, 4, random);
  Player player(relay_of("relay:T=0,r0=4,x=0", n), times);
  player.rescue = false;
  ASSERT_TRUE(player.play(12));
  double total = 0;
  for (std::size_t r = 0; r < 12; ++r) {
    std::map<int, double> first;  // of each group, by its first chunk
    for (std::size_t i = 0; i < n; ++i) {
      const MiniTask& task = player.rounds()[r].plan.per_worker[i].at(0);
      double& time = first.emplace(task.row.terms()[0].chunk.value, kDead).first->second;
      time = std::min(time, times.base[r][i] + times.rate[i] * task.load);
    }
    EXPECT_EQ(first.size(), 6U);
    double slowest = 0;
    for (const auto& [group, time] : first) slowest = std::max(slowest, time);
    total += slowest;
  }
  EXPECT_NEAR(player.total(), total, 1e-9);
}

TEST(Relay, TimesOfARoundDoNotChangeEarlierPlans) {
  RandomStream random(5, "causality");
  const int n = 12;
  const Times times = random_times(20, n, 4, random);
  Times other = times;
  for (double& base : other.base[10]) base = 1 + 9 * random.uniform();
  const std::string text = "relay:T=2,r0=2,x=0.4,due=3,mid=1";
  Player one(relay_of(text, n), times);
  Player two(relay_of(text, n), other);
  one.rescue = two.rescue = false;  // a rescue copy takes the base time of the next round
  ASSERT_TRUE(one.play(15));
  ASSERT_TRUE(two.play(15));
  for (std::size_t r = 0; r <= 10; ++r) {
    EXPECT_TRUE(same_plan(one.rounds()[r].plan, two.rounds()[r].plan)) << r;
  }
  EXPECT_FALSE(same_plan(one.rounds()[11].plan, two.rounds()[11].plan));
}

TEST(Relay, ACopyContinuesLikeItsOriginal) {
  RandomStream random(6, "clone");
  for (int repetition = 0; repetition < 20; ++repetition) {
    const int n = 3 + static_cast<int>(random.below(10));
    const std::string text = random_text(n, 2, random);
    SCOPED_TRACE(text);
    Player original(relay_of(text, n), random_times(30, n, 4, random));
    ASSERT_TRUE(original.play(8));
    Player copy(original);
    ASSERT_TRUE(original.play(12));
    ASSERT_TRUE(copy.play(12));
    EXPECT_EQ(copy.total(), original.total());
    for (std::size_t r = 8; r < 20; ++r) {
      EXPECT_TRUE(same_plan(copy.rounds()[r].all, original.rounds()[r].all));
      EXPECT_EQ(copy.rounds()[r].decoded.size(), original.rounds()[r].decoded.size());
    }
  }
}

TEST(Relay, ScalingAllTimesChangesNoDecision) {
  RandomStream random(7, "scale");
  for (const double scale : {4.0, 0.125}) {
    const int n = 16;
    const Times times = random_times(40, n, 4, random);
    Times scaled = times;
    for (auto& base : scaled.base) {
      for (double& time : base) time *= scale;
    }
    for (double& rate : scaled.rate) rate *= scale;
    const std::string text = "relay:T=2,r0=2,x=0.3,due=4,mid=2,split=1,speed=8";
    Player one(relay_of(text, n), times);
    Player two(relay_of(text, n), scaled);
    ASSERT_TRUE(one.play(30));
    ASSERT_TRUE(two.play(30));
    EXPECT_EQ(two.total(), scale * one.total());
    for (std::size_t r = 0; r < 30; ++r) {
      EXPECT_TRUE(same_plan(one.rounds()[r].all, two.rounds()[r].all)) << r;
    }
  }
}

TEST(Relay, TimesOfARoundDoNotChangeEarlierSettingsOfItsOwn) {
  RandomStream random(9, "causality of shadow runs");
  const int n = 12;
  const Times times = random_times(40, n, 4, random);
  Times other = times;
  for (double& base : other.base[16]) base = 1 + 9 * random.uniform();
  for (const std::string text : {"relay:T=2", "relay:T=3,bundle=1,accept_late=0", "gc:s=auto"}) {
    Player one(scheme_of(text, n), times);
    Player two(scheme_of(text, n), other);
    one.rescue = two.rescue = false;  // a rescue copy takes the base time of the next round
    ASSERT_TRUE(one.play(30));
    ASSERT_TRUE(two.play(30));
    for (std::size_t r = 0; r <= 16; ++r) {
      EXPECT_TRUE(same_plan(one.rounds()[r].plan, two.rounds()[r].plan)) << text << ' ' << r;
    }
    EXPECT_NE(one.total(), two.total());
  }
}

TEST(Relay, ScalingAllTimesChangesNoSettingOfItsOwn) {
  RandomStream random(10, "scale of shadow runs");
  const int n = 12;
  for (const std::string text : {"relay:T=2", "relay:T=3,bundle=1,accept_late=0", "gc:s=auto"}) {
    const Times times = random_times(40, n, 4, random);
    Times scaled = times;
    for (auto& base : scaled.base) {
      for (double& time : base) time *= 4;
    }
    for (double& rate : scaled.rate) rate *= 4;
    Player one(scheme_of(text, n), times);
    Player two(scheme_of(text, n), scaled);
    ASSERT_TRUE(one.play(30));
    ASSERT_TRUE(two.play(30));
    EXPECT_EQ(two.total(), 4 * one.total());
    // The rates of workers that are not known yet are guessed as 1, which does not scale; it is the
    // same for all of them, so it orders nobody.
    for (std::size_t r = 0; r < 30; ++r) {
      EXPECT_TRUE(same_plan(one.rounds()[r].all, two.rounds()[r].all)) << text << ' ' << r;
    }
  }
}

/// Seven of ten workers answer, three never do until `alive_again`.
Times with_three_dead(int rounds, int alive_again) {
  RandomStream random(8, "dead");
  Times times = random_times(rounds, 10, 1000, random);
  for (int r = 0; r < alive_again; ++r) {
    for (const std::size_t dead : {0, 4, 9}) times.base[static_cast<std::size_t>(r)][dead] = kDead;
  }
  return times;
}

TEST(Relay, DeadWorkersNeverBlockAndSoonHaveNoSoleCopy) {
  for (const char* text : {"relay:T=0,r0=1,x=0", "relay:T=1,r0=1,x=0.4", "relay:T=3,r0=2,x=0.2"}) {
    SCOPED_TRACE(text);
    Player player(relay_of(text, 10), with_three_dead(60, 60));
    ASSERT_TRUE(player.play(40));
    for (std::size_t r = 15; r < 40; ++r) {
      const RoundPlan& plan = player.rounds()[r].plan;
      std::set<std::pair<int, int>> of_dead;  // (job, first chunk)
      std::set<std::pair<int, int>> of_living;
      for (std::size_t i = 0; i < 10; ++i) {
        auto& units = i == 0 || i == 4 || i == 9 ? of_dead : of_living;
        for (const MiniTask& task : plan.per_worker[i]) {
          units.emplace(task.job.value, task.row.terms()[0].chunk.value);
        }
      }
      EXPECT_EQ(of_dead.empty(), r % 10 != 0) << "round " << r;
      EXPECT_TRUE(
          std::includes(of_living.begin(), of_living.end(), of_dead.begin(), of_dead.end()));
    }
  }
}

TEST(Relay, AnyDeathIsSurvivedWhereNoUnitMayStayOpen) {
  Times times{std::vector<std::vector<double>>(30, {1.0, 1.1, 1.2, 1.3}), {1, 1, 1, 1}};
  for (std::size_t r = 4; r < 30; ++r) times.base[r][1] = kDead;
  Player player(relay_of("relay:T=1,r0=1,x=0.2", 4), times);  // 0.2 * 4 units is less than one
  EXPECT_TRUE(player.play(20));
}

TEST(Relay, AWorkerThatComesBackIsPlannedWithAfterItsProbe) {
  Player player(relay_of("relay:T=0,r0=2,x=0", 10), with_three_dead(60, 25));
  ASSERT_TRUE(player.play(34));
  EXPECT_TRUE(player.rounds()[29].plan.per_worker[4].empty());
  EXPECT_FALSE(player.rounds()[30].plan.per_worker[4].empty());
  EXPECT_FALSE(player.rounds()[33].plan.per_worker[4].empty());
}

/// Answers of the workers listed, at these times.
Answers answers_of(const RoundPlan& plan, const std::map<int, double>& times) {
  Answers answers(static_cast<int>(plan.per_worker.size()));
  for (const auto& [worker, time] : times) {
    const auto i = static_cast<std::size_t>(worker);
    answers.done[i] = static_cast<int>(plan.per_worker[i].size());
    answers.time[i] = Seconds(time);
  }
  return answers;
}

TEST(Relay, RescuesOnceWhenHalfOfTheWorkersHaveAnswered) {
  const auto scheme = relay_of("relay:T=0,r0=1,x=0", 6);
  const RoundPlan plan = scheme->plan(Round{0});
  EXPECT_TRUE(scheme->more(Round{0}, answers_of(plan, {{4, 1.0}, {2, 1.5}})).per_worker.empty());
  const Answers half = answers_of(plan, {{4, 1.0}, {2, 1.5}, {3, 1.5}});
  const RoundPlan extra = scheme->more(Round{0}, half);
  ASSERT_EQ(extra.per_worker.size(), 6U);
  // Units 0, 1 and 5 are open; the earliest helper comes first, equal times by worker.
  EXPECT_EQ(extra.per_worker[4][0].row.terms()[0], plan.per_worker[0][0].row.terms()[0]);
  EXPECT_EQ(extra.per_worker[2][0].row.terms()[0], plan.per_worker[1][0].row.terms()[0]);
  EXPECT_EQ(extra.per_worker[3][0].row.terms()[0], plan.per_worker[5][0].row.terms()[0]);
  EXPECT_TRUE(extra.per_worker[0].empty());
  EXPECT_TRUE(scheme->more(Round{0}, half).per_worker.empty());
  Answers rescued = half;
  for (const std::size_t i : {2, 3, 4}) rescued.done[i] = 2;
  EXPECT_TRUE(scheme->may_close(Round{0}, rescued));
  EXPECT_EQ(scheme->close(Round{0}, rescued).size(), 1U);
}

TEST(Relay, RescuesEarlierWhenAnAnswerTakesFourTimesAsLongAsTheFirst) {
  const auto scheme = relay_of("relay:T=0,r0=1,x=0", 8);
  const RoundPlan plan = scheme->plan(Round{0});
  EXPECT_TRUE(scheme->more(Round{0}, answers_of(plan, {{5, 1.0}, {6, 3.9}})).per_worker.empty());
  const RoundPlan extra = scheme->more(Round{0}, answers_of(plan, {{5, 1.0}, {6, 3.9}, {7, 4.0}}));
  ASSERT_EQ(extra.per_worker.size(), 8U);
  EXPECT_EQ(extra.per_worker[5].size() + extra.per_worker[6].size() + extra.per_worker[7].size(),
            5U);  // one copy of each open unit: there are fewer helpers than units
}

TEST(Relay, LeavesUnitsThatAreNotDueToTheNextRound) {
  const auto scheme = relay_of("relay:T=1,r0=1,x=0.5,due=1", 4);
  const RoundPlan plan = scheme->plan(Round{0});
  const Answers half = answers_of(plan, {{0, 1.0}, {1, 1.0}});
  EXPECT_TRUE(scheme->more(Round{0}, half).per_worker.empty());
  EXPECT_TRUE(scheme->may_close(Round{0}, half));
  EXPECT_TRUE(scheme->close(Round{0}, half).empty());
  const RoundPlan next = scheme->plan(Round{1});
  EXPECT_EQ(next.per_worker[0][0].job, JobId{0});
  EXPECT_EQ(next.per_worker[1][0].job, JobId{0});
  EXPECT_EQ(next.per_worker[2][0].job, JobId{1});
}

/// To the first order of round 0.
LateAnswer late_answer(int worker) {
  return {.round = Round{0}, .worker = WorkerId{worker}, .done = 1, .took = Seconds{2}};
}

TEST(Relay, LateAnswersCompleteUnitsOnlyWhenAccepted) {
  for (const bool accept : {false, true}) {
    const auto scheme =
        relay_of(fmt::format("relay:T=1,r0=1,x=0.5,due=1,accept_late={}", accept ? 1 : 0), 4);
    const RoundPlan plan = scheme->plan(Round{0});
    scheme->close(Round{0}, answers_of(plan, {{0, 1.0}, {1, 1.0}}));
    const RoundPlan next = scheme->plan(Round{1});
    const Answers new_units = answers_of(next, {{2, 1.0}, {3, 1.0}});
    EXPECT_FALSE(scheme->may_close(Round{1}, new_units));
    EXPECT_TRUE(scheme->late(late_answer(2)).empty());
    const auto decoded = scheme->late(late_answer(3));
    ASSERT_EQ(decoded.size(), accept ? 1U : 0U);
    EXPECT_EQ(scheme->may_close(Round{1}, new_units), accept);
    if (!accept) continue;
    EXPECT_EQ(decoded[0].job, JobId{0});
    EXPECT_EQ(decoded[0].terms.size(), 4U);
  }
}

TEST(Relay, ALateAnswerToASplitUnitCountsOnlyWhileAllPiecesAreOpen) {
  for (const bool piece_done : {false, true}) {
    const auto scheme = relay_of("relay:T=3,r0=2,x=0.5,mid=1,split=1,accept_late=1", 8);
    const RoundPlan plan = scheme->plan(Round{0});  // unit 3 of 4 is with workers 3 and 4
    scheme->close(Round{0}, answers_of(plan, {{0, 1.0}, {1, 1.0}, {2, 1.0}}));
    const RoundPlan next = scheme->plan(Round{1});
    std::map<int, double> answered;
    std::vector<int> have_pieces;
    for (int i = 0; i < 8; ++i) {
      const bool old = next.per_worker[static_cast<std::size_t>(i)][0].job == JobId{0};
      if (old) have_pieces.push_back(i);
      if (!old || (piece_done && have_pieces.size() == 1)) answered[i] = 1.0;
    }
    ASSERT_EQ(have_pieces.size(), 2U);
    const Answers answers = answers_of(next, answered);
    ASSERT_EQ(scheme->may_close(Round{1}, answers), piece_done);
    if (piece_done) scheme->close(Round{1}, answers);
    const auto decoded = scheme->late(late_answer(3));
    EXPECT_EQ(decoded.size(), piece_done ? 0U : 1U);
    EXPECT_TRUE(piece_done || scheme->may_close(Round{1}, answers));
  }
}

TEST(Relay, SlicesAreAsLargeAsTheirSpeedAllowsWithUnequalWorkers) {
  const int n = 8;
  Times times{{std::vector<double>(n, 0.0)}, {1, 1, 1, 1, 4, 4, 4, 4}};
  Player equal(relay_of("relay:T=0,r0=1,x=0", n), times);
  Player sized(relay_of("relay:T=0,r0=1,x=0,speed=8", n), times);
  equal.rescue = sized.rescue = false;
  ASSERT_TRUE(equal.play(20));
  ASSERT_TRUE(sized.play(20));
  EXPECT_NEAR(equal.rounds()[19].lasted, 4.0 / n, 1e-2);
  EXPECT_NEAR(sized.rounds()[19].lasted, 1.0 / 5, 1e-2);  // speeds 4 * 1 + 4 * 1/4
}

TEST(Relay, PlansNothingOnceAllJobsAreDecoded) {
  const auto scheme = relay_of("relay:T=0,r0=2,x=0", 4, 1);
  const RoundPlan plan = scheme->plan(Round{0});
  scheme->close(Round{0}, answers_of(plan, {{0, 1.0}, {1, 1.0}, {2, 1.0}, {3, 1.0}}));
  EXPECT_TRUE(jobs_of(scheme->plan(Round{1})).empty());
  EXPECT_TRUE(scheme->may_close(Round{1}, Answers(4)));
  EXPECT_TRUE(scheme->close(Round{1}, Answers(4)).empty());
}

TEST(Relay, DescribesItself) {
  const auto scheme = relay_of("relay:T=4,bundle=2,r0=2", 16);
  const SchemeInfo& info = scheme->info();
  EXPECT_EQ(info.label(), "relay:T=4,r0=2,x=0.2,bundle=2");
  EXPECT_EQ(info.jobs_per_round, 2);
  EXPECT_EQ(info.decode_delay, 1);  // 2 (T'+1) <= 5
  EXPECT_EQ(info.open_jobs, 4);
  EXPECT_DOUBLE_EQ(info.load, 0.25);
  EXPECT_EQ(info.chunk_size.size() % 16, 0U);
  EXPECT_EQ(relay_of("relay:x=0.2", 1)->info().label(), "relay:T=1,r0=1,x=0.2");
}

TEST(Relay, SaysThatItSetsItself) {
  EXPECT_EQ(relay_of("relay", 16)->info().label(), "relay:T=1");
  EXPECT_EQ(relay_of("relay:T=3,bundle=auto,accept_late=1", 16)->info().label(), "relay:T=3");
  EXPECT_EQ(relay_of("relay:T=3,bundle=2,accept_late=0", 16)->info().label(),
            "relay:T=3,bundle=2,accept_late=0");
  const auto scheme = relay_of("relay:T=3,holders=4", 16);
  EXPECT_EQ(scheme->info().label(), "relay:T=3,holders=4");
  EXPECT_EQ(scheme->info().jobs_per_round, 4);
  EXPECT_EQ(scheme->info().decode_delay, 3);
  EXPECT_EQ(scheme->info().open_jobs, 4);
}

TEST(Relay, RefusesWrongParametersWithOneLine) {
  const auto message = [](const std::string& text) {
    const auto made = try_relay(text, 8);
    return made.has_value() ? std::string("accepted") : made.error().message;
  };
  EXPECT_EQ(
      message("relay:T=1,bundle=3"),
      "relay:T=1,bundle=3: bundle=3 is not allowed; 1 <= bundle <= T+1 = 2 (T >= 2 would do)");
  EXPECT_NE(message("relay:T=1,holders=9").find("1 <= holders <= 8"), std::string::npos);
  EXPECT_NE(message("relay:r0=2,bundle=auto").find("bundle=auto is for"), std::string::npos);
  EXPECT_NE(message("relay:r0=9").find("1 <= r0 <= 8"), std::string::npos);
  EXPECT_NE(message("relay:x=1.5").find("x=1.5"), std::string::npos);
  EXPECT_NE(message("relay:due=0").find("due=0"), std::string::npos);
  EXPECT_NE(message("relay:speed=3").find('3'), std::string::npos);
  EXPECT_NE(message("relay:splitt=1").find("did you mean 'split'"), std::string::npos);
}

}  // namespace
}  // namespace paceline
