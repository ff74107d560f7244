#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/random.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

class Scripted final : public DelaySource {
 public:
  explicit Scripted(std::vector<Delay> delays) : delays_(std::move(delays)) {}

  int workers() const override { return static_cast<int>(delays_.size()); }

  Delay delay(Round, WorkerId worker) const override { return delays_[worker.index()]; }

 private:
  std::vector<Delay> delays_;
};

/// The definition, by bisection.
double by_bisection(const Scripted& delays, double m) {
  double low = 0, high = 1e6;
  for (int step = 0; step < 200; ++step) {
    const double tau = (low + high) / 2;
    double done = 0;
    for (int i = 0; i < delays.workers(); ++i) {
      const Delay delay = delays.delay(Round{0}, WorkerId{i});
      const double left = tau - delay.base.count();
      if (delay.per_load.count() == 0) {
        done += left >= 0 ? m : 0;
      } else {
        done += std::max(0.0, left / delay.per_load.count());
      }
    }
    (done >= m ? high : low) = tau;
  }
  return high;
}

TEST(Clairvoyant, AgreesWithBisectionOnRandomWorkers) {
  RandomStream random(20, "clairvoyant test");
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + static_cast<int>(random.below(12));
    std::vector<Delay> workers;
    for (int i = 0; i < n; ++i) {
      const bool instant = random.below(8) == 0;
      workers.push_back(
          {Seconds{random.uniform() * 3}, Seconds{instant ? 0 : 0.01 + random.exponential() * 2}});
    }
    const Scripted delays(workers);
    const int m = 1 + static_cast<int>(random.below(4));
    EXPECT_NEAR(clairvoyant_round(delays, Round{0}, m).count(), by_bisection(delays, m), 1e-9)
        << "trial " << trial;
  }
}

TEST(Clairvoyant, EqualWorkersShareTheWork) {
  const Scripted delays(std::vector<Delay>(4, {Seconds{1}, Seconds{2}}));
  EXPECT_DOUBLE_EQ(clairvoyant_round(delays, Round{0}, 1).count(), 1.5);
  EXPECT_DOUBLE_EQ(clairvoyant_round(delays, Round{0}, 2).count(), 2);
}

TEST(Clairvoyant, WorkersThatNeverAnswerDoNotCount) {
  const Scripted half({{Seconds{1}, Seconds{2}}, {kNever, Seconds{1}}});
  EXPECT_DOUBLE_EQ(clairvoyant_round(half, Round{0}, 1).count(), 3);
  const Scripted none({{kNever, Seconds{1}}});
  EXPECT_EQ(clairvoyant_round(none, Round{0}, 1), kNever);
}

TEST(Clairvoyant, TheLastRoundHasOnlyTheJobsThatAreLeft) {
  const Scripted delays(std::vector<Delay>(4, {Seconds{1}, Seconds{2}}));
  EXPECT_DOUBLE_EQ(clairvoyant_total(delays, 5, 2).count(), 2 + 2 + 1.5);
}

// Relay spec, section 10, column "limit" of the exact table.
TEST(Clairvoyant, AgreesWithThePublishedLimits) {
  const struct {
    const char* profile;
    std::uint64_t seed;
    double slope;
    double limit;
  } rows[] = {
      {"lambda-cnn-long-canada-b2048", 0, 1.12175331, 125.2051},
      {"lambda-cnn-long-canada-b2048", 1, 1.12175331, 125.2613},
      {"lambda-cnn-mid-canada-b2048", 0, 1.09888913, 124.8732},
      {"lambda-cnn-short2-sydney-b256", 0, 0.30876902, 276.9778},
  };

  for (const auto& row : rows) {
    PACELINE_NEED_SHARED_FILE(path, "traces/" + std::string(row.profile) + "-load0.000.csv");
    const auto profile = read_delay_profile(path);
    ASSERT_TRUE(profile) << profile.error().message;
    const auto replay = make_replay(bootstrap(*profile, 210, row.seed), {.slope = row.slope});
    ASSERT_TRUE(replay);
    EXPECT_NEAR(clairvoyant_total(**replay, 200, 1).count() / row.limit, 1, 1e-5) << row.profile;
  }
}

}  // namespace
}  // namespace paceline
