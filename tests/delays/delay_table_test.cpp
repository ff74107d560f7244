#include "paceline/delay_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace paceline {
namespace {

/// Worker i takes 10 r + i seconds at zero load in round r, and i + 1 seconds per unit of load.
class Counting final : public DelaySource {
 public:
  int workers() const override { return 3; }

  Delay delay(Round round, WorkerId worker) const override {
    return {Seconds{10.0 * round.value + worker.value}, Seconds{worker.value + 1.0}};
  }
};

double base(const DelayTable& table, int round, int worker) {
  return table.delay(Round{round}, WorkerId{worker}).base.count();
}

TEST(DelayTable, RepeatsItsRounds) {
  const DelayTable table = DelayTable::record(Counting(), 4);
  EXPECT_EQ(table.rounds(), 4);
  EXPECT_EQ(table.workers(), 3);
  EXPECT_EQ(base(table, 3, 2), 32);
  EXPECT_EQ(base(table, 5, 1), 11);
}

TEST(DelayTable, ViewsOfViewsNameTheOriginalsRoundsAndWorkers) {
  const DelayTable table = DelayTable::record(Counting(), 4);
  const DelayTable some = table.with_rounds({3, 1, 1}).with_workers({2, 0});
  EXPECT_EQ(some.rounds(), 3);
  EXPECT_EQ(some.workers(), 2);
  EXPECT_EQ(base(some, 0, 0), 32);
  EXPECT_EQ(base(some, 2, 1), 10);
  const DelayTable again = some.with_rounds({2, 0}).with_workers({1, 1});
  EXPECT_EQ(base(again, 1, 0), 30);
  EXPECT_EQ(base(again, 0, 1), 10);
}

TEST(DelayTable, SlowsComputingOnly) {
  const DelayTable slow = DelayTable::record(Counting(), 1).with_slower_computing(16);
  EXPECT_EQ(slow.delay(Round{0}, WorkerId{2}).per_load, Seconds{48});
  EXPECT_EQ(base(slow, 0, 2), 2);
}

// The same resample as that of the profile itself.
TEST(DelayTable, BootstrappedRoundsAreThoseOfTheProfile) {
  DelayProfile profile{12, 2, 0, {}};
  for (int entry = 1; entry <= 24; ++entry) profile.seconds.push_back(entry);
  const auto original = make_replay(profile, {});
  const DelayTable table =
      DelayTable::record(**original, 12).with_rounds(bootstrap_rounds(12, 30, 5));
  const DelayProfile grown = bootstrap(profile, 30, 5);
  ASSERT_EQ(table.rounds(), grown.rounds);
  for (int r = 0; r < grown.rounds; ++r) EXPECT_EQ(base(table, r, 1), grown.at(r, 1));
}

TEST(BootstrapRounds, KeepBlocksOfTheLengthAskedFor) {
  const std::vector<int> rounds = bootstrap_rounds(40, 60, 1, 3);
  ASSERT_EQ(rounds.size(), 60U);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (r % 3 == 0) continue;
    EXPECT_EQ(rounds[r], rounds[r - 1] + 1);
  }
}

}  // namespace
}  // namespace paceline
