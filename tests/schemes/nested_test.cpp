// Nested codes. Expected values: spec of exact codes, section 5.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "paceline/random.hpp"
#include "paceline/scheme.hpp"
#include "schemes/answer_counts.hpp"

namespace paceline {
namespace {

std::unique_ptr<Scheme> nested(int workers, int s, const std::string& code) {
  auto scheme =
      make_scheme("nested:s=" + std::to_string(s) + ",code=" + code, {.workers = workers});
  if (!scheme) {
    ADD_FAILURE() << scheme.error().message;
    return nullptr;
  }
  return std::move(*scheme);
}

/// The rule as it is written: for some s, n - s workers have done s + 1 chunks.
bool rule_holds(const std::vector<int>& done, int most) {
  for (int s = 0; s <= most; ++s) {
    const auto enough = std::ranges::count_if(done, [s](int count) { return count >= s + 1; });
    if (enough >= static_cast<int>(done.size()) - s) return true;
  }
  return false;
}

TEST(NestedCodes, CloseAndDecodeOnTheListedNumberOfCounts) {
  for (const auto& [n, listed] : {std::pair{4, 500}, {5, 1829}, {6, 6594}}) {
    const auto scheme = nested(n, 3, "mds");
    EXPECT_EQ(scheme->info().messages_per_round, 4);
    EXPECT_NEAR(scheme->info().load, 4.0 / n, 1e-12);
    const RoundPlan plan = scheme->plan(Round{0});
    int closing = 0;
    test::for_all_counts(n, 4, [&](const Answers& answers) {
      const bool holds = rule_holds(answers.done, 3);
      ASSERT_EQ(scheme->may_close(Round{0}, answers), holds);
      if (!holds) return;
      ++closing;
      const auto decodings = scheme->clone()->close(Round{0}, answers);
      ASSERT_EQ(decodings.size(), 1U);
      test::expect_each_chunk_once(decodings[0], plan, n, 2);
      test::expect_answered(decodings[0], answers);
    });
    EXPECT_EQ(closing, listed);
  }
}

TEST(NestedCodes, OfGroupsCloseWhenAllGroupsOfOneSizeHaveBeenDone) {
  const auto scheme = nested(8, 3, "repetition");  // groups of 1, 2, 4
  const RoundPlan plan = scheme->plan(Round{0});
  EXPECT_EQ(scheme->info().messages_per_round, 3);
  EXPECT_NEAR(scheme->info().load, 0.5, 1e-12);
  EXPECT_EQ(plan.per_worker[5][2].row.terms().size(), 2U) << "6 and 7, after 5 and 4";
  test::for_all_counts(8, 3, [&](const Answers& answers) {
    bool some_size = false;
    for (int step = 0; step < 3; ++step) {
      const int size = 1 << step;
      bool all = true;
      for (int first = 0; first < 8; first += size) {
        const auto group = answers.done.begin() + first;
        all = all && std::any_of(group, group + size, [&](int done) { return done > step; });
      }
      some_size = some_size || all;
    }
    ASSERT_EQ(scheme->may_close(Round{0}, answers), some_size);
    if (!some_size) return;
    const auto decodings = scheme->clone()->close(Round{0}, answers);
    test::expect_each_chunk_once(decodings.at(0), plan, 8);
    test::expect_answered(decodings.at(0), answers);
  });
}

/// When each worker is done with each of its chunks, shape (n, s+1).
using ChunkTimes = std::vector<std::vector<double>>;

double when_closed(const Scheme& scheme, const ChunkTimes& times) {
  std::vector<double> all;
  for (const auto& list : times) all.insert(all.end(), list.begin(), list.end());
  std::ranges::sort(all);
  return *std::ranges::partition_point(all, [&](double time) {
    Answers answers(scheme.info().workers);
    for (std::size_t i = 0; i < times.size(); ++i) {
      answers.done[i] =
          static_cast<int>(std::ranges::upper_bound(times[i], time) - times[i].begin());
    }
    return !scheme.may_close(Round{0}, answers);
  });
}

/// When n - s workers are done with s + 1 chunks.
double when_code_is_done(int s, const ChunkTimes& times) {
  std::vector<double> done;
  for (const auto& list : times) done.push_back(list[static_cast<std::size_t>(s)]);
  std::ranges::sort(done);
  return done[done.size() - 1 - static_cast<std::size_t>(s)];
}

TEST(NestedCodes, TakeTheListedTimes) {
  struct Line {
    int n, s;
    std::function<double(RandomStream&)> chunk;  ///< anew for every chunk; empty: factor only
    std::function<double(RandomStream&)> factor;
    double listed;
  };

  const auto one = [](RandomStream&) { return 1.0; };
  const auto shifted = [](RandomStream& random) { return 1 + random.exponential(); };
  const auto exponential = [](RandomStream& random) { return random.exponential(); };
  const auto seldom_slow = [](RandomStream& random) {
    const double time = 1 + random.exponential() / 10;
    return random.below(10) == 0 ? 10 * time : time;
  };
  for (const Line& line : {Line{10, 4, shifted, one, 3.840},
                           {10, 4, one, shifted, 3.855},
                           {10, 4, one, exponential, 2.561},
                           {10, 4, one, seldom_slow, 2.564},
                           {12, 5, one, seldom_slow, 2.846}}) {
    const auto scheme = nested(line.n, line.s, "mds");
    RandomStream random(5, "nested");
    constexpr int kRounds = 1500;
    double sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      ChunkTimes times(static_cast<std::size_t>(line.n));
      for (auto& list : times) {
        const double factor = line.factor(random);
        double now = 0;
        for (int c = 0; c <= line.s; ++c) list.push_back(now += factor * line.chunk(random));
      }
      const double closed = when_closed(*scheme, times);
      sum += closed;
      double first = when_code_is_done(0, times);
      for (int s = 1; s <= line.s; ++s) first = std::min(first, when_code_is_done(s, times));
      ASSERT_EQ(closed, first) << "no later than any of the codes";
    }
    EXPECT_NEAR(sum / kRounds, line.listed, 0.04 * line.listed);
  }
}

TEST(NestedCodes, NameTheGroupsThatNest) {
  const auto scheme = make_scheme("nested:s=4,code=repetition", {.workers = 12});
  ASSERT_FALSE(scheme);
  EXPECT_EQ(scheme.error().message,
            "nested:s=4,code=repetition: groups need s+1 to divide 12 workers, s=4 does not; "
            "allowed: 0, 1, 2, 3, 5, 11");
  EXPECT_EQ(make_scheme("nested:s=4", {.workers = 12}).value()->info().label(),
            "nested:s=4,code=mds");
  EXPECT_EQ(make_scheme("nested:s=5", {.workers = 12}).value()->info().label(),
            "nested:s=5,code=repetition");
}

}  // namespace
}  // namespace paceline
