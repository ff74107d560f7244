#include "tune/slow_workers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

/// Workers 1 and 3 of 6 take twice as long; in every third round worker 0 takes ten times as long.
class Cluster final : public DelaySource {
 public:
  int workers() const override { return 6; }

  Delay delay(Round round, WorkerId worker) const override {
    double factor = worker.value == 1 || worker.value == 3 ? 2 : 1;
    if (worker.value == 0 && round.value % 3 == 0) factor = 10;
    return {Seconds{0.5 * factor}, Seconds{3 * factor}};
  }
};

TEST(SlowWorkers, AreThoseThatAreSlowMostOfTheTime) {
  const std::vector<double> slow_by = slowness(DelayTable::record(Cluster(), 9));
  EXPECT_EQ(slow_by, (std::vector<double>{1, 2, 1, 2, 1, 1}));
  EXPECT_EQ(always_slow(slow_by), (std::vector<int>{1, 3}));
  EXPECT_EQ(slowest_first(slow_by), (std::vector<int>{1, 3, 0, 2, 4, 5}));
}

}  // namespace
}  // namespace paceline
