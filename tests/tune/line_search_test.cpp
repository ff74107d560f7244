#include "tune/line_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "paceline/delays.hpp"
#include "tune/parallel.hpp"

namespace paceline {
namespace {

DelayTable bursty(int workers, int rounds) {
  const auto model =
      make_delay_model("bursty:base=0.5,slope=2,slow=5,bad=0.08,good=0.5,noise=0.05", workers, 3);
  return DelayTable::record(**model, rounds);
}

const SearchFamily& family(const std::vector<SearchFamily>& families, const std::string& name) {
  return *std::ranges::find(families, name, &SearchFamily::name);
}

TEST(ParallelFor, DoesEachCallOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> calls(100);
    EXPECT_TRUE(parallel_for(calls.size(), threads, nullptr, [&](std::size_t i) { ++calls[i]; }));
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, PassesAnExceptionOn) {
  const auto work = [](std::size_t i) {
    if (i == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(parallel_for(20, 2, nullptr, work), std::runtime_error);
}

TEST(ParallelFor, StopsWhenInterrupted) {
  std::atomic<bool> interrupted{false};
  std::atomic<int> calls{0};
  EXPECT_FALSE(parallel_for(1000, 1, &interrupted, [&](std::size_t) {
    if (++calls == 3) interrupted = true;
  }));
  EXPECT_EQ(calls, 3);
}

// A search that looks at some values finds what trying all of them finds.
TEST(LineSearch, FindsTheBestNumberOfGroups) {
  const Arena arena(bursty(24, 60), {.resamples = 6, .jobs = 60});
  const SearchFamily groups{
      "groups", {{1, 24, [](int k) { return "gc:groups=" + std::to_string(k); }}}, true};
  LineSearch search;
  search.arena = &arena;
  const LineResult found = search_lines(candidate_lines(groups, {{"eager"}}), search);
  ASSERT_TRUE(found.best);
  EXPECT_FALSE(found.interrupted);
  EXPECT_EQ(found.best->jobs, 360);
  double least = 1e9;
  for (int k = 1; k <= 24; ++k) {
    double sum = 0;
    for (int b = 0; b < 6; ++b) {
      sum += arena.play({groups.lines[0].text(k), "eager", {}}, b, 60)->result.total.count();
    }
    least = std::min(least, sum / 360);
  }
  EXPECT_LE(found.best->seconds_per_job, 1.002 * least);
  EXPECT_LT(found.trials.size(), 20U);
}

TEST(LineSearch, DoesNotDependOnTheNumberOfThreads) {
  const Arena arena(bursty(12, 40), {.resamples = 3, .jobs = 40, .models = 3});
  const auto families = search_space({.workers = 12, .models = 3, .most_jobs_per_round = 3});
  const auto result = [&](int threads) {
    LineSearch search;
    search.arena = &arena;
    search.control.threads = threads;
    return search_lines(candidate_lines(family(families, "sr-sgc"), searched_closes()), search);
  };
  const LineResult one = result(1);
  const LineResult three = result(3);
  ASSERT_TRUE(one.best && three.best);
  EXPECT_EQ(one.best->info.label(), three.best->info.label());
  EXPECT_EQ(one.best->candidate.close, three.best->candidate.close);
  ASSERT_EQ(one.trials.size(), three.trials.size());
  for (std::size_t i = 0; i < one.trials.size(); ++i) {
    EXPECT_EQ(one.trials[i].seconds_per_job, three.trials[i].seconds_per_job);
  }
}

// The cyclic code for 64 of 256 workers magnifies rounding too much; a simulation does not mind.
TEST(LineSearch, PassesOverCodesThatCannotTrain) {
  const Arena arena(bursty(256, 4), {.resamples = 1, .jobs = 4});
  const CandidateLine line{64,
                           64,
                           [](int s) {
                             return Candidate{"gc:s=" + std::to_string(s) + ",code=cyclic", {}, {}};
                           },
                           {"eager"},
                           0};
  LineSearch search;
  search.arena = &arena;
  EXPECT_FALSE(search_lines({line}, search).best);
  search.must_train = false;
  EXPECT_TRUE(search_lines({line}, search).best);
}

TEST(LineSearch, KeepsWithinModelsAndStorage) {
  const Arena arena(bursty(12, 20), {.resamples = 1, .jobs = 20, .models = 2, .storage = 0.25});
  for (const SearchFamily& some :
       search_space({.workers = 12, .models = 2, .storage = 0.25, .most_jobs_per_round = 2})) {
    LineSearch search;
    search.arena = &arena;
    for (const Trial& trial :
         search_lines(candidate_lines(some, searched_closes()), search).trials) {
      EXPECT_LE(trial.info.open_jobs, 2) << trial.info.label();
      EXPECT_LE(trial.info.storage, 0.25 + 1e-9) << trial.info.label();
    }
  }
}

TEST(LineSearch, LeavesWhenInterrupted) {
  const Arena arena(bursty(12, 20), {.resamples = 1, .jobs = 20});
  const std::atomic<bool> interrupted{true};
  const auto families = search_space({.workers = 12});
  LineSearch search;
  search.arena = &arena;
  search.control.interrupted = &interrupted;
  const LineResult found = search_lines(candidate_lines(families[1], {{"eager"}}), search);
  EXPECT_TRUE(found.interrupted);
  EXPECT_FALSE(found.best);
}

}  // namespace
}  // namespace paceline
