// The totals that must come out exactly (relay spec, section 10): 200 jobs on bootstrapped measured
// profiles, eager close.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "paceline/close_policy.hpp"
#include "paceline/delays.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

constexpr int kJobs = 200;
constexpr int kRoundsWithReserve = 210;
constexpr double kTolerance = 1e-5;  // relative

struct Row {
  const char* profile;
  std::uint64_t seed;
  double slope;
  double uncoded, cyclic, groups32, groups26;
};

/// For GoogleTest, which would print bytes.
void PrintTo(const Row& row, std::ostream* out) { *out << row.profile << " seed " << row.seed; }

constexpr Row kRows[] = {
    {"lambda-cnn-long-canada-b2048", 0, 1.12175331, 308.5295, 179.4096, 136.9107, 134.2988},
    {"lambda-cnn-long-canada-b2048", 1, 1.12175331, 311.4394, 179.9632, 137.5040, 134.9412},
    {"lambda-cnn-mid-canada-b2048", 0, 1.09888913, 317.6739, 195.6305, 141.0363, 140.6159},
    {"lambda-cnn-short2-sydney-b256", 0, 0.30876902, 506.6969, 426.7158, 397.2436, 389.3581},
};

Expected<DelayProfile> bootstrapped(const Row& row, const std::string& path) {
  auto profile = read_delay_profile(path);
  if (!profile) return profile;
  return bootstrap(*profile, kRoundsWithReserve, row.seed);
}

double total(const std::string& scheme_text, DelayProfile profile, double slope) {
  const int n = profile.workers;
  const auto delays = make_replay(std::move(profile), {.slope = slope});
  auto scheme = make_scheme(scheme_text, {.workers = n, .jobs = kJobs, .keep_promise = false});
  auto policy = make_close_policy("eager");
  EXPECT_TRUE(delays && scheme && policy);
  const auto coordinator =
      make_round_coordinator(std::move(*scheme), std::move(*policy), {.jobs = kJobs, .models = 1});
  EXPECT_TRUE(coordinator);
  const auto result = simulate(**coordinator, **delays);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->total.count() : 0;
}

/// The table's groups are contiguous, group u being workers floor(un/k) ... floor((u+1)n/k)-1; ours
/// are worker i in group i mod k, the first n mod k of them one larger. Renumbered columns turn one
/// into the other: the larger blocks first, and each block's members k columns apart.
DelayProfile with_contiguous_groups(const DelayProfile& profile, int k) {
  const int n = profile.workers;
  std::vector<std::pair<int, int>> blocks;  // size, first worker
  for (int u = 0; u < k; ++u) blocks.emplace_back((u + 1) * n / k - u * n / k, u * n / k);
  std::stable_sort(
      blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  DelayProfile renumbered = profile;
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < n; ++i) {
      const int worker = blocks[static_cast<std::size_t>(i % k)].second + i / k;
      renumbered.seconds[static_cast<std::size_t>(r * n + i)] = profile.at(r, worker);
    }
  }
  return renumbered;
}

class ExactTable : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    PACELINE_NEED_SHARED_FILE(path, "traces/" + std::string(GetParam().profile) + "-load0.000.csv");
    auto profile = bootstrapped(GetParam(), path);
    ASSERT_TRUE(profile) << profile.error().message;
    profile_ = std::move(*profile);
  }

  void expect_total(double expected, const std::string& scheme, const DelayProfile& profile) const {
    EXPECT_NEAR(total(scheme, profile, GetParam().slope) / expected, 1, kTolerance) << scheme;
  }

  DelayProfile profile_;
};

TEST_P(ExactTable, UncodedWaitsForAll) { expect_total(GetParam().uncoded, "uncoded", profile_); }

TEST_P(ExactTable, CyclicCodesCloseOnAnySufficientNumberOfAnswers) {
  expect_total(GetParam().cyclic, "gc:s=35,code=cyclic", profile_);
}

TEST_P(ExactTable, RepetitionClosesWhenEveryGroupHasAnswered) {
  expect_total(GetParam().groups32, "gc:groups=32", with_contiguous_groups(profile_, 32));
  expect_total(GetParam().groups26, "gc:groups=26", with_contiguous_groups(profile_, 26));
}

INSTANTIATE_TEST_SUITE_P(Profiles, ExactTable, testing::ValuesIn(kRows), [](const auto& test) {
  std::string name = test.param.profile;
  std::erase(name, '-');
  return name + "seed" + std::to_string(test.param.seed);
});

// What stops are for: a persistent worker that is free at once is as good as a stateless one.
TEST(Simulator, PersistentWorkersThatStopAtOnceEqualStatelessOnes) {
  const auto delays = make_delay_model(
      "bursty:base=0.1,slope=1,noise=0.02,slow=5,bad=0.1,good=0.4,spread=0.2", 24, 5);
  ASSERT_TRUE(delays);
  const auto play = [&](WorkerKind kind, Seconds latency) {
    auto scheme = make_scheme("sr-sgc:B=1,W=2,lambda=6,code=repetition", {.workers = 24});
    auto policy = make_close_policy("eager");
    const auto coordinator =
        make_round_coordinator(std::move(*scheme), std::move(*policy), {.jobs = 100, .models = 2});
    const auto result =
        simulate(**coordinator, **delays, {.workers = kind, .stop_latency = latency});
    EXPECT_TRUE(result) << result.error().message;
    return result->total.count();
  };
  const double stateless = play(WorkerKind::kStateless, Seconds{0});
  const double persistent = play(WorkerKind::kPersistent, Seconds{0});
  const double slow = play(WorkerKind::kPersistent, Seconds{0.2});
  EXPECT_DOUBLE_EQ(persistent, stateless);
  EXPECT_GT(slow, stateless);
}

}  // namespace
}  // namespace paceline
