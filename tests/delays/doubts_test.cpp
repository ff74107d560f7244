#include "delays/doubts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace paceline {
namespace {

std::vector<std::string> doubts(const DelayProfile& profile) { return doubts_about(profile, "p"); }

TEST(Doubts, AProfileOfUsualTimesHasNone) {
  EXPECT_TRUE(doubts({3, 2, 0, {1, 2, 3, 40, 1, 2}}).empty());
  EXPECT_TRUE(doubts({1, 1, 0, {1}}).empty());
}

TEST(Doubts, NameAColumnInAnotherUnit) {
  const auto found = doubts({2, 3, 0, {0.5, 510, 0.6, 0.4, 490, 0.7}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("p: column 2 (worker 1): typical times of 510 s, 0.7 s in the other"),
            std::string::npos)
      << found[0];
}

TEST(Doubts, NameAValueInAnotherUnit) {
  const auto found = doubts({3, 2, 0, {0.5, 0.6, 0.5, 600, 0.5, 0.6}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("row 2, column 2 (round 1, worker 1): 600 s, 0.6 s"), std::string::npos)
      << found[0];
}

TEST(Doubts, ATimeOfSeveralMinutesIsHardlyOne) {
  const auto found = doubts({1, 2, 0, {700, 800}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("typical times of 800 s"), std::string::npos);
}

TEST(Doubts, EqualTimesWereHardlyMeasured) {
  const auto found = doubts({2, 1, 0, {0.25, 0.25}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("all times are 0.25 s"), std::string::npos);
}

}  // namespace
}  // namespace paceline
