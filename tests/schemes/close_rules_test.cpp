// Where the three readings of may_close part.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scheme_player.hpp"

namespace paceline {
namespace {

using test::SchemePlayer;
using test::worker_set;

SchemePlayer player_of(const std::string& text, int workers, CloseRule rule) {
  auto scheme = make_scheme(text, {.workers = workers, .rule = rule, .keep_promise = false});
  EXPECT_TRUE(scheme) << scheme.error().message;
  return {std::move(scheme).value(), 20};
}

bool may_close_without(const SchemePlayer& player, const std::vector<int>& stragglers) {
  SchemePlayer trial = player;
  trial.answer_all_but(worker_set(trial.scheme().info().workers, stragglers));
  return trial.may_close();
}

void close_without(SchemePlayer& player, const std::vector<int>& stragglers) {
  player.answer_all_but(worker_set(player.scheme().info().workers, stragglers));
  ASSERT_TRUE(player.may_close());
  player.close();
}

TEST(CloseRules, GcClosesOnAnyDecodableSetOrCountsStragglers) {
  const std::string text = "gc:s=1,code=repetition";  // groups i mod 3
  EXPECT_TRUE(may_close_without(player_of(text, 6, CloseRule::kDecodable), {0, 1, 2}));
  EXPECT_FALSE(may_close_without(player_of(text, 6, CloseRule::kDecodable), {0, 3}));
  EXPECT_TRUE(may_close_without(player_of(text, 6, CloseRule::kModel), {0}));
  EXPECT_FALSE(may_close_without(player_of(text, 6, CloseRule::kModel), {0, 1}));
}

TEST(CloseRules, PublishedGcToleratesOneStragglerLess) {
  const SchemePlayer player = player_of("gc:s=2,code=cyclic", 6, CloseRule::kPublished);
  EXPECT_TRUE(may_close_without(player, {4}));
  EXPECT_FALSE(may_close_without(player, {0, 4}));
  EXPECT_FALSE(may_close_without(player_of("gc:s=1", 6, CloseRule::kPublished), {4}));
  EXPECT_TRUE(may_close_without(player_of("gc:s=0", 6, CloseRule::kPublished), {}));
  EXPECT_FALSE(may_close_without(player_of("uncoded", 6, CloseRule::kPublished), {4}));
}

TEST(CloseRules, SrSgcForgetsStragglersOfCleanRounds) {
  for (const CloseRule rule : {CloseRule::kModel, CloseRule::kPublished}) {
    SchemePlayer player = player_of("sr-sgc:B=1,W=2,lambda=4,code=cyclic", 5, rule);  // s = 2
    close_without(player, {0, 1});                                                    // clean
    EXPECT_TRUE(may_close_without(player, {0, 1, 2, 3}));
    close_without(player, {0, 1, 2, 3});
    EXPECT_FALSE(may_close_without(player, {2}));
  }
}

TEST(CloseRules, OnlyThePublishedTestOfSrSgcRefusesACleanRound) {
  const auto before_last = [](CloseRule rule) {
    SchemePlayer player = player_of("sr-sgc:B=1,W=3,lambda=3,code=cyclic", 5, rule);  // s = 1
    close_without(player, {0, 1});
    close_without(player, {});
    return player;
  };
  // Worker 1 straggles again after 2 < W rounds, but alone, and nobody has to repeat anything.
  EXPECT_TRUE(may_close_without(before_last(CloseRule::kModel), {1}));
  EXPECT_TRUE(may_close_without(before_last(CloseRule::kDecodable), {1}));
  EXPECT_FALSE(may_close_without(before_last(CloseRule::kPublished), {1}));
}

TEST(CloseRules, MSgcModelTestRefusesWhatCouldStillBeDecoded) {
  const auto fourth_round = [](CloseRule rule) {
    SchemePlayer player = player_of("m-sgc:B=2,W=4,lambda=1,code=cyclic", 4, rule);
    close_without(player, {0});
    close_without(player, {});
    close_without(player, {});
    return player;
  };
  // Worker 0 twice in four rounds spans more than B = 2 rounds, but fails only B times per job.
  EXPECT_FALSE(may_close_without(fourth_round(CloseRule::kModel), {0}));
  EXPECT_TRUE(may_close_without(fourth_round(CloseRule::kDecodable), {0}));
  // A second distinct worker is too much for either.
  EXPECT_FALSE(may_close_without(fourth_round(CloseRule::kModel), {1}));
  EXPECT_FALSE(may_close_without(fourth_round(CloseRule::kDecodable), {0, 1}));
}

TEST(CloseRules, WithoutCodedDataTheFirstFailuresAreFree) {
  // lambda = n: every worker may fail once per job, all of them at the same time.
  const std::string text = "m-sgc:B=1,W=2,lambda=3";
  SchemePlayer player = player_of(text, 3, CloseRule::kDecodable);
  close_without(player, {0, 1, 2});
  EXPECT_FALSE(may_close_without(player, {1}));
  close_without(player, {});
  EXPECT_EQ(player.complete(), 2);  // job 1 needed no second slot
  EXPECT_EQ(player.plan().per_worker[0].size(), 1U);
}

TEST(CloseRules, PublishedMSgcRunsAndChargesIdleSlots) {
  SchemePlayer player = player_of("m-sgc:B=2,W=3,lambda=3", 3, CloseRule::kPublished);
  while (!player.finished()) {
    for (const auto& list : player.plan().per_worker) {
      ASSERT_EQ(list.size(), 4U);
      double load = 0;
      for (const MiniTask& task : list) load += task.load;
      EXPECT_NEAR(load, player.scheme().info().load, 1e-12);
    }
    close_without(player, {});
  }
  EXPECT_EQ(player.round().value, 20 + 3);  // all T tail rounds
  EXPECT_EQ(player.problem(), "");
}

}  // namespace
}  // namespace paceline
