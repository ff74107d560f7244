// The round-by-round test against the definitions of the models, on every pattern that is small
// enough to enumerate.
#include "paceline/straggler_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/scheme_player.hpp"

namespace paceline {
namespace {

using Pattern = std::vector<unsigned>;  // bit i of entry r: worker i straggles in round r

struct Case {
  int workers, limit, window, lambda, rounds;  // limit: B or N
};

/// Calls check for every window of `window` rounds, also those that begin before round 0 or end
/// after the last round.
template <class Check>
bool holds_in_every_window(const Pattern& pattern, int window, const Check& check) {
  const int rounds = static_cast<int>(pattern.size());
  for (int first = 1 - window; first < rounds; ++first) {
    Pattern inside;
    for (int r = first; r < first + window; ++r) {
      inside.push_back(r >= 0 && r < rounds ? pattern[static_cast<std::size_t>(r)] : 0);
    }
    if (!check(inside)) return false;
  }
  return true;
}

int distinct(const Pattern& window) {
  unsigned any = 0;
  for (const unsigned set : window) any |= set;
  return std::popcount(any);
}

/// Rounds of the window in which the worker straggles.
std::vector<int> straggles(const Pattern& window, int worker) {
  std::vector<int> rounds;
  for (int r = 0; r < static_cast<int>(window.size()); ++r) {
    if ((window[static_cast<std::size_t>(r)] >> worker & 1U) != 0) rounds.push_back(r);
  }
  return rounds;
}

bool is_bursty(const Pattern& pattern, const Case& c) {
  return holds_in_every_window(pattern, c.window, [&](const Pattern& window) {
    if (distinct(window) > c.lambda) return false;
    for (int i = 0; i < c.workers; ++i) {
      const std::vector<int> rounds = straggles(window, i);
      if (!rounds.empty() && rounds.back() - rounds.front() > c.limit - 1) return false;
    }
    return true;
  });
}

bool is_arbitrary(const Pattern& pattern, const Case& c) {
  return holds_in_every_window(pattern, c.window, [&](const Pattern& window) {
    if (distinct(window) > c.lambda) return false;
    for (int i = 0; i < c.workers; ++i) {
      if (static_cast<int>(straggles(window, i).size()) > c.limit) return false;
    }
    return true;
  });
}

/// Walks over all patterns; `conforms` is the definition, `model` the value under test.
template <class Definition>
int compare(const Case& c,
            const Pattern& so_far,
            const StragglerModel& model,
            const Definition& conforms) {
  if (static_cast<int>(so_far.size()) == c.rounds) return 1;
  int patterns = 0;
  for (unsigned set = 0; set < 1U << c.workers; ++set) {
    Pattern next = so_far;
    next.push_back(set);
    const WorkerSet stragglers = test::worker_set_from_bits(c.workers, set);
    const bool accepted = model.accepts(stragglers);
    EXPECT_EQ(accepted, conforms(next, c));
    if (!accepted || ::testing::Test::HasFailure()) continue;
    StragglerModel longer = model;
    longer.push(stragglers);
    patterns += compare(c, next, longer, conforms);
  }
  return patterns;
}

const std::vector<Case> kCases = {{2, 1, 2, 1, 6},
                                  {2, 1, 3, 2, 6},
                                  {2, 2, 3, 1, 6},
                                  {2, 2, 4, 2, 6},
                                  {3, 1, 2, 2, 5},
                                  {3, 2, 3, 2, 5},
                                  {3, 3, 3, 1, 5},
                                  {2, 1, 1, 1, 4},
                                  {2, 1, 2, 0, 4}};

TEST(StragglerModel, BurstyCheckIsTheDefinitionOnAllSmallPatterns) {
  for (const Case& c : kCases) {
    compare(c, {}, StragglerModel::bursty(c.workers, c.limit, c.window, c.lambda), is_bursty);
  }
}

TEST(StragglerModel, ArbitraryCheckIsTheDefinitionOnAllSmallPatterns) {
  for (const Case& c : kCases) {
    compare(c, {}, StragglerModel::arbitrary(c.workers, c.limit, c.window, c.lambda), is_arbitrary);
  }
  compare({2, 0, 2, 2, 3}, {}, StragglerModel::arbitrary(2, 0, 2, 2), is_arbitrary);
}

TEST(StragglerModel, PerRoundCountsOnlyThisRound) {
  StragglerModel model = StragglerModel::per_round(3, 2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(model.accepts(test::worker_set(3, {0, 2})));
    EXPECT_FALSE(model.accepts(test::worker_set(3, {0, 1, 2})));
    model.push(test::worker_set(3, {0, 2}));
  }
}

TEST(StragglerModel, ACopyGoesOnByItself) {
  StragglerModel model = StragglerModel::bursty(2, 1, 2, 2);
  StragglerModel copy = model;
  copy.push(test::worker_set(2, {0}));
  EXPECT_FALSE(copy.accepts(test::worker_set(2, {0})));
  EXPECT_TRUE(model.accepts(test::worker_set(2, {0})));
}

TEST(StragglerModel, IsBuiltFromText) {
  const auto bursty = make_straggler_model("bursty:B=1,W=2,lambda=1", 3);
  ASSERT_TRUE(bursty) << bursty.error().message;
  EXPECT_TRUE(bursty->accepts(test::worker_set(3, {0})));
  EXPECT_FALSE(bursty->accepts(test::worker_set(3, {0, 1})));
  EXPECT_TRUE(make_straggler_model("per-round:s=2", 3)->accepts(test::worker_set(3, {0, 1})));
  EXPECT_FALSE(
      make_straggler_model("arbitrary:N=0,W=3,lambda=3", 3)->accepts(test::worker_set(3, {0})));
}

TEST(StragglerModel, NamesTheNearestRightText) {
  const struct {
    const char* text;
    const char* part;
  } cases[] = {
      {"burst:B=1,W=2,lambda=1", "did you mean 'bursty'?"},
      {"bursty:B=1,W=2,lamda=1", "did you mean 'lambda'?"},
      {"bursty:B=3,W=2,lambda=1", "1 <= B <= 2"},
      {"bursty:B=1,W=2,lambda=4", "0 <= lambda <= 3"},
      {"per-round:s=4", "0 <= s <= 3"},
      {"arbitrary:N=1,lambda=1", "needs W="},
  };

  for (const auto& [text, part] : cases) {
    const auto model = make_straggler_model(text, 3);
    ASSERT_FALSE(model) << text;
    EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
  }
  EXPECT_FALSE(make_straggler_model("per-round:s=0", 0));
}

TEST(StragglerModel, RefusesWrongParameters) {
  EXPECT_THROW(StragglerModel::bursty(2, 3, 2, 1), ContractViolation);
  EXPECT_THROW(StragglerModel::bursty(2, 0, 2, 1), ContractViolation);
  EXPECT_THROW(StragglerModel::arbitrary(2, 3, 2, 1), ContractViolation);
  EXPECT_THROW(StragglerModel::per_round(2, -1), ContractViolation);
}

}  // namespace
}  // namespace paceline
