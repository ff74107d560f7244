// The theorems of SR-SGC and M-SGC, by enumeration: on every pattern that conforms to the straggler
// model the model test lets every round close, and every job is decoded, exactly, by its deadline.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paceline/straggler_model.hpp"
#include "support/scheme_player.hpp"

namespace paceline {
namespace {

using test::SchemePlayer;
using test::worker_set_from_bits;

struct Case {
  std::string scheme;
  int workers, B, W, lambda, jobs;
  std::string code = "cyclic";

  std::string text() const {
    return scheme + ":B=" + std::to_string(B) + ",W=" + std::to_string(W) +
           ",lambda=" + std::to_string(lambda) + ",code=" + code;
  }

  SchemePlayer player(CloseRule rule) const {
    auto made = make_scheme(
        text(), {.workers = workers, .jobs = jobs, .rule = rule, .keep_promise = false});
    if (!made) ADD_FAILURE() << made.error().message;
    return {std::move(made).value(), jobs};
  }
};

/// Workers without work are no stragglers, so the set that really straggles may be smaller.
WorkerSet play(SchemePlayer& player, unsigned stragglers) {
  player.answer_all_but(worker_set_from_bits(player.scheme().info().workers, stragglers));
  return player.missing();
}

/// Follows every pattern the model accepts to the end. @return how many there were
int follow(const Case& c, const SchemePlayer& so_far, const StragglerModel& model) {
  if (so_far.finished()) return 1;
  int patterns = 0;
  for (unsigned set = 0; set < 1U << c.workers; ++set) {
    if (!model.accepts(worker_set_from_bits(c.workers, set))) continue;
    SchemePlayer player = so_far;
    play(player, set);
    StragglerModel longer = model;
    longer.push(worker_set_from_bits(c.workers, set));
    EXPECT_TRUE(player.may_close()) << c.text() << ", round " << player.round().value;
    if (::testing::Test::HasFailure()) return patterns;
    player.close();
    EXPECT_EQ(player.problem(), "");
    if (::testing::Test::HasFailure()) return patterns;
    patterns += follow(c, player, longer);
  }
  return patterns;
}

void expect_guarantee(const std::vector<Case>& cases, int least_patterns) {
  int patterns = 0;
  for (const Case& c : cases) {
    for (const CloseRule rule : {CloseRule::kModel, CloseRule::kDecodable}) {
      patterns += follow(c, c.player(rule), StragglerModel::bursty(c.workers, c.B, c.W, c.lambda));
    }
  }
  EXPECT_GE(patterns, least_patterns);
}

TEST(SrSgcGuarantee, EveryBurstyPatternIsDecodedInTime) {
  expect_guarantee({{"sr-sgc", 2, 1, 2, 1, 3},
                    {"sr-sgc", 2, 1, 2, 2, 3},
                    {"sr-sgc", 3, 1, 2, 2, 3},
                    {"sr-sgc", 3, 1, 3, 3, 3},
                    {"sr-sgc", 3, 2, 3, 3, 2},
                    {"sr-sgc", 4, 1, 2, 3, 3},
                    {"sr-sgc", 4, 1, 2, 4, 2},
                    {"sr-sgc", 4, 2, 3, 4, 1},
                    {"sr-sgc", 4, 1, 4, 4, 3}},
                   1000);
}

TEST(SrSgcGuarantee, HoldsWithRepetition) {
  expect_guarantee({{"sr-sgc", 2, 1, 2, 2, 3, "repetition"},
                    {"sr-sgc", 3, 1, 2, 2, 3, "repetition"},
                    {"sr-sgc", 4, 1, 2, 4, 2, "repetition"},
                    {"sr-sgc", 4, 1, 3, 4, 3, "repetition"},
                    {"sr-sgc", 4, 2, 3, 4, 1, "repetition"}},
                   900);
}

TEST(MSgcGuarantee, EveryBurstyPatternIsDecodedInTime) {
  expect_guarantee({{"m-sgc", 2, 1, 2, 1, 3},
                    {"m-sgc", 2, 1, 2, 2, 3},
                    {"m-sgc", 2, 2, 3, 2, 2},
                    {"m-sgc", 3, 1, 2, 1, 3},
                    {"m-sgc", 3, 1, 2, 3, 2},
                    {"m-sgc", 3, 1, 3, 2, 2},
                    {"m-sgc", 3, 2, 3, 1, 2},
                    {"m-sgc", 3, 2, 3, 2, 1},
                    {"m-sgc", 3, 3, 4, 1, 2},
                    {"m-sgc", 4, 1, 2, 2, 2},
                    {"m-sgc", 4, 1, 2, 3, 2},
                    {"m-sgc", 4, 1, 3, 1, 2},
                    {"m-sgc", 4, 2, 4, 1, 1}},
                   1000);
}

TEST(MSgcGuarantee, HoldsWithRepetition) {
  expect_guarantee({{"m-sgc", 2, 1, 2, 1, 3, "repetition"},
                    {"m-sgc", 3, 1, 3, 1, 2, "repetition"},
                    {"m-sgc", 4, 1, 2, 1, 3, "repetition"},
                    {"m-sgc", 4, 1, 2, 3, 2, "repetition"},
                    {"m-sgc", 4, 2, 3, 1, 2, "repetition"}},
                   900);
}

/// Whether some pattern of `model` is refused, because a job could not be decoded any more.
bool some_pattern_is_refused(const Case& c,
                             const SchemePlayer& so_far,
                             const StragglerModel& model) {
  if (so_far.finished()) return false;
  for (unsigned set = 0; set < 1U << c.workers; ++set) {
    if (!model.accepts(worker_set_from_bits(c.workers, set))) continue;
    SchemePlayer player = so_far;
    play(player, set);
    if (!player.may_close()) return true;
    player.close();
    StragglerModel longer = model;
    longer.push(worker_set_from_bits(c.workers, set));
    if (some_pattern_is_refused(c, player, longer)) return true;
  }
  return false;
}

TEST(MSgcGuarantee, EndsJustOutsideTheModel) {
  const std::vector<Case> cases = {
      {"m-sgc", 4, 1, 2, 1, 3}, {"m-sgc", 4, 1, 3, 1, 3}, {"m-sgc", 4, 2, 3, 2, 3}};
  for (const Case& c : cases) {
    const SchemePlayer player = c.player(CloseRule::kDecodable);
    const auto refused = [&](const StragglerModel& model) {
      return some_pattern_is_refused(c, player, model);
    };
    EXPECT_TRUE(refused(StragglerModel::bursty(c.workers, c.B, c.W, c.lambda + 1)));
    EXPECT_TRUE(refused(StragglerModel::bursty(c.workers, c.B + 1, c.W, c.lambda)));
    EXPECT_TRUE(refused(StragglerModel::arbitrary(c.workers, c.B + 1, c.W + c.B - 1, c.lambda)));
  }
}

TEST(SrSgcGuarantee, EndsJustOutsideTheModel) {
  const Case c{"sr-sgc", 4, 1, 2, 2, 4};  // s = 1; the formula gives 2 for lambda = 3
  EXPECT_TRUE(some_pattern_is_refused(
      c, c.player(CloseRule::kDecodable), StragglerModel::bursty(4, 1, 2, 3)));
  EXPECT_TRUE(some_pattern_is_refused(
      c, c.player(CloseRule::kDecodable), StragglerModel::bursty(4, 2, 2, 2)));
}

TEST(MSgcGuarantee, AlsoCoversTheArbitraryModel) {
  for (const Case& c : std::vector<Case>{{"m-sgc", 3, 1, 2, 1, 3}, {"m-sgc", 3, 2, 3, 1, 2}}) {
    const int patterns = follow(c,
                                c.player(CloseRule::kDecodable),
                                StragglerModel::arbitrary(c.workers, c.B, c.W + c.B - 1, c.lambda));
    EXPECT_GT(patterns, 10);
  }
}

TEST(SrSgcGuarantee, RepetitionSurvivesTotalBlackouts) {
  // Load 2/n: nobody answers for B rounds, then everybody for B rounds, and so on.
  for (const int B : {1, 2, 3}) {
    const Case c{"sr-sgc", 6, B, B + 1, 2, 12, "repetition"};  // s = 1
    SchemePlayer player = c.player(CloseRule::kDecodable);
    EXPECT_DOUBLE_EQ(player.scheme().info().load, 2.0 / 6);
    while (!player.finished()) {
      const bool blackout = player.round().value / B % 2 == 0;
      play(player, blackout ? 63U : 0U);
      ASSERT_TRUE(player.may_close());
      player.close();
      ASSERT_EQ(player.problem(), "");
    }
  }
}

}  // namespace
}  // namespace paceline
