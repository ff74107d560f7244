#include <gtest/gtest.h>

#include "paceline/delays.hpp"

namespace paceline {
namespace {

const DelayProfile kProfile{2, 2, 0.5, {1, 2, 3, 4}};

TEST(Replay, GivesBackTheMeasuredTimesAtTheMeasuredLoad) {
  const auto replay = make_replay(kProfile, {.slope = 1.5});
  ASSERT_TRUE(replay);
  EXPECT_EQ((*replay)->workers(), 2);
  EXPECT_DOUBLE_EQ((*replay)->delay(Round{1}, WorkerId{0}).at(0.5).count(), 3);
  EXPECT_DOUBLE_EQ((*replay)->delay(Round{1}, WorkerId{0}).base.count(), 3 - 0.75);
  EXPECT_DOUBLE_EQ((*replay)->delay(Round{1}, WorkerId{0}).per_load.count(), 1.5);
}

TEST(Replay, StartsAgainAfterItsLastRound) {
  const auto replay = make_replay(kProfile, {});
  ASSERT_TRUE(replay);
  for (int r = 0; r < 6; ++r) {
    EXPECT_EQ((*replay)->delay(Round{r}, WorkerId{1}).base.count(), kProfile.at(r % 2, 1));
  }
}

TEST(Replay, ScalesWholeResponseTimes) {
  const auto replay = make_replay(kProfile, {.slope = 1, .scale = 10});
  ASSERT_TRUE(replay);
  EXPECT_DOUBLE_EQ((*replay)->delay(Round{0}, WorkerId{0}).at(0.5).count(), 10);
  EXPECT_DOUBLE_EQ((*replay)->delay(Round{0}, WorkerId{0}).at(1.5).count(), 20);
}

TEST(Replay, RefusesASlopeThatMakesATimeNegative) {
  const auto replay = make_replay(kProfile, {.slope = 2.1});
  ASSERT_FALSE(replay);
  EXPECT_EQ(replay.error().message,
            "slope=2.1 is too steep for this profile: round 0, worker 0 took 1 s at load 0.5, "
            "which leaves -0.05 s at zero load; allowed: 0 <= slope <= 2");
}

TEST(Replay, TakesWhatOnlyRoundingMakesNegativeAsZero) {
  const auto replay = make_replay({1, 1, 0.3, {0.33}}, {.slope = 1.1});
  ASSERT_TRUE(replay);
  EXPECT_GE((*replay)->delay(Round{0}, WorkerId{0}).base.count(), 0);
  EXPECT_LT((*replay)->delay(Round{0}, WorkerId{0}).base.count(), 1e-12);
}

TEST(Replay, ProportionalTimesLeaveNothingAtZeroLoad) {
  const auto measured = make_replay(kProfile, {.scale = 2, .proportional = true});
  ASSERT_TRUE(measured);
  EXPECT_EQ((*measured)->workers(), 2);
  const Delay delay = (*measured)->delay(Round{3}, WorkerId{0});
  EXPECT_EQ(delay.base.count(), 0);
  EXPECT_DOUBLE_EQ(delay.at(0.5).count(), 2 * 3);
  EXPECT_DOUBLE_EQ(delay.at(0.25).count(), 3);
  // Measured at load 0, which cannot be: every worker had its share, 1/n.
  const auto uncoded = make_replay({1, 4, 0, {1, 2, 3, 4}}, {.proportional = true});
  ASSERT_TRUE(uncoded);
  EXPECT_DOUBLE_EQ((*uncoded)->delay(Round{0}, WorkerId{3}).at(0.25).count(), 4);
  EXPECT_DOUBLE_EQ((*uncoded)->delay(Round{0}, WorkerId{3}).at(0.5).count(), 8);
}

TEST(Replay, RefusesOptionsOutOfRange) {
  EXPECT_FALSE(make_replay(kProfile, {.slope = 1, .proportional = true}));
  EXPECT_FALSE(make_replay(kProfile, {.slope = -1}));
  EXPECT_FALSE(make_replay(kProfile, {.slope = 0, .scale = 0}));
}

}  // namespace
}  // namespace paceline
