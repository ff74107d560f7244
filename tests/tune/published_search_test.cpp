// The search against play(): any candidate, played event by event by the schemes themselves, has
// the same total.
#include "paceline/published_search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/play.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

DelayProfile random_profile(int rounds, int workers, std::uint64_t seed) {
  const auto model = make_delay_model(
      "bursty:base=0.5,noise=0.1,slow=3,bad=0.06,good=0.7,spread=0.15", workers, seed);
  DelayProfile profile{rounds, workers, 0, {}};
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < workers; ++i) {
      profile.seconds.push_back((*model)->delay(Round{r}, WorkerId{i}).base.count());
    }
  }
  return profile;
}

struct Case {
  int workers;
  int rounds;
  PublishedSearchOptions options;
};

TEST(PublishedSearch, HasThePlayedTotalOfEveryCandidate) {
  const std::vector<Case> cases = {
      {1, 5, {.jobs = 4, .longest_window = 4, .most_slots = 3}},
      {12,
       9,
       {.jobs = 14, .mu = 0.5, .longest_window = 7, .most_slots = 4, .replay = {.slope = 0.7}}},
      {20, 30, {.jobs = 20, .longest_window = 9, .most_slots = 6, .replay = {0.4, 2}}},
      {70,
       30,
       {.jobs = 12, .mu = 0.3, .longest_window = 8, .most_slots = 5, .replay = {.slope = 1}}},
  };
  for (const Case& c : cases) {
    const DelayProfile profile = random_profile(c.rounds, c.workers, 5);
    const auto delays = make_replay(profile, c.options.replay);
    const auto search = published_search(profile, c.options);
    ASSERT_TRUE(delays && search);
    RandomStream random(3, "candidates");
    int waited = 0;
    for (const PublishedCandidate& candidate : search->candidates) {
      const bool compared = c.workers <= 12 || random.below(c.workers <= 20 ? 4 : 60) == 0;
      if (!compared) continue;
      SCOPED_TRACE(fmt::format("{} n={} mu={}", candidate.text(), c.workers, c.options.mu));
      const auto played =
          play(candidate.text(),
               **delays,
               {.jobs = c.options.jobs, .close = fmt::format("published:mu={}", c.options.mu)});
      ASSERT_TRUE(played) << played.error().message;
      EXPECT_NEAR(candidate.load, played->info.load, 1e-12);
      EXPECT_NEAR(candidate.total.count(), played->result.total.count(), 1e-9);
      EXPECT_EQ(candidate.wait_outs, played->result.wait_outs);
      if (HasFailure()) return;
      waited += candidate.wait_outs;
    }
    EXPECT_EQ(waited > 0, c.workers > 1);
  }
}

TEST(PublishedSearch, CoversTheSearchSpaceOnce) {
  const DelayProfile profile = random_profile(4, 64, 1);
  const auto search = published_search(profile, {.jobs = 2});
  ASSERT_TRUE(search);
  // 51 pairs (B, W) for SR-SGC and 25 for M-SGC; SR-SGC needs s < n, which all have here.
  EXPECT_EQ(search->candidates.size(), 64U + 51 * 64 + 25 * 64);
  std::set<std::string> texts;
  for (const PublishedCandidate& candidate : search->candidates) texts.insert(candidate.text());
  EXPECT_EQ(texts.size(), search->candidates.size());
}

TEST(PublishedSearch, TheBestHaveTheLeastTotalAndThenTheLeastLoad) {
  const auto search =
      published_search(random_profile(12, 24, 2), {.jobs = 8, .replay = {.slope = 1}});
  ASSERT_TRUE(search);
  ASSERT_EQ(search->best.size(), 4U);
  for (const PublishedCandidate& best : search->best) {
    for (const PublishedCandidate& candidate : search->candidates) {
      if (candidate.scheme != best.scheme) continue;
      EXPECT_GE(std::pair(candidate.total, candidate.load), std::pair(best.total, best.load));
    }
  }
}

TEST(PublishedSearch, RefusesWhatMakesNoSense) {
  const DelayProfile profile = random_profile(3, 4, 1);
  EXPECT_EQ(published_search(profile, {.jobs = 0}).error().message,
            "jobs=0 is not allowed; jobs >= 1");
  EXPECT_EQ(published_search(profile, {.mu = -1}).error().message,
            "mu=-1 is not allowed; a number >= 0");
  EXPECT_FALSE(published_search(profile, {.longest_window = 0}));
  EXPECT_FALSE(published_search(profile, {.replay = {.slope = -1}}));
}

}  // namespace
}  // namespace paceline
