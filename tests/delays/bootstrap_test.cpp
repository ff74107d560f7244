#include <gtest/gtest.h>

#include <vector>

#include "paceline/delays.hpp"

namespace paceline {
namespace {

/// Two workers; worker 0 takes r + 1 seconds in round r, worker 1 ten times that.
DelayProfile counting(int rounds) {
  DelayProfile profile{rounds, 2, 0.25, {}};
  for (int r = 0; r < rounds; ++r) {
    profile.seconds.push_back(r + 1);
    profile.seconds.push_back(10 * (r + 1));
  }
  return profile;
}

std::vector<int> first_starts(const DelayProfile& grown, int block, int count) {
  std::vector<int> starts;
  for (int b = 0; b < count; ++b) starts.push_back(static_cast<int>(grown.at(b * block, 0)) - 1);
  return starts;
}

// Relay spec, section 10: the first starts for profiles of 30 and 20 rounds.
TEST(Bootstrap, DrawsThePublishedStarts) {
  EXPECT_EQ(first_starts(bootstrap(counting(30), 210, 0), 10, 6),
            (std::vector<int>{3, 17, 10, 6, 19, 2}));
  EXPECT_EQ(first_starts(bootstrap(counting(30), 210, 1), 10, 6),
            (std::vector<int>{2, 9, 18, 12, 9, 0}));
  EXPECT_EQ(first_starts(bootstrap(counting(20), 210, 0), 10, 6),
            (std::vector<int>{8, 5, 2, 6, 0, 4}));
}

TEST(Bootstrap, KeepsBlocksOfRoundsWholeForAllWorkers) {
  const DelayProfile grown = bootstrap(counting(30), 95, 7);
  EXPECT_EQ(grown.rounds, 100);  // whole blocks
  EXPECT_EQ(grown.workers, 2);
  EXPECT_EQ(grown.load, 0.25);
  ASSERT_EQ(grown.seconds.size(), 200U);
  for (int r = 0; r < grown.rounds; ++r) {
    EXPECT_EQ(grown.at(r, 1), 10 * grown.at(r, 0));
    if (r % 10 != 0) {
      EXPECT_EQ(grown.at(r, 0), grown.at(r - 1, 0) + 1);
    }
  }
}

TEST(Bootstrap, UsesShorterBlocksForShortProfiles) {
  const DelayProfile grown = bootstrap(counting(5), 40, 3);  // blocks of 2
  for (int r = 1; r < grown.rounds; r += 2) EXPECT_EQ(grown.at(r, 0), grown.at(r - 1, 0) + 1);
  EXPECT_EQ(bootstrap(counting(1), 4, 3).rounds, 4);
}

}  // namespace
}  // namespace paceline
