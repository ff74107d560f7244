// Relay that finds its own setting, on measured profiles: 200 jobs, medians over 20 bootstrapped
// profiles. Where late answers do not count, these are the totals of the relay specification,
// tables 10.2 (one job per round), 10.3 (bundled) and 10.4 (ten workers, times proportional to the
// load); ours may be less, since the first rounds are judged before all their answers are in. Where
// they count, the bound is a multiple of the clairvoyant limit, which holds for schemes that keep
// their jobs within a round and so may be undercut.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/play.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

constexpr int kJobs = 200;
constexpr int kRounds = 210;
constexpr int kSeeds = 20;

struct Totals {
  double median = 0;
  double mean_of_limit = 0;  ///< mean total over the mean limit of one job per round
};

Totals totals_of(const std::string& scheme,
                 const DelayProfile& profile,
                 const ReplayOptions& replay) {
  std::vector<double> totals;
  double sum = 0;
  double limit = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto delays =
        make_replay(bootstrap(profile, kRounds, static_cast<std::uint64_t>(seed)), replay).value();
    const Played played = play(scheme, *delays, {.jobs = kJobs}).value();
    totals.push_back(played.result.total.count());
    sum += totals.back();
    limit += clairvoyant_total(*delays, kJobs, 1).count();
  }
  std::ranges::sort(totals);
  return {(totals[kSeeds / 2 - 1] + totals[kSeeds / 2]) / 2, sum / limit};
}

struct Profile {
  const char* name;
  const char* file;
  double slope;
};

const std::vector<Profile> kProfiles = {
    {"long", "traces/lambda-cnn-long-canada-b2048-load0.000.csv", 1.12175331},
    {"mid", "traces/lambda-cnn-mid-canada-b2048-load0.000.csv", 1.09888913},
    {"short2", "traces/lambda-cnn-short2-sydney-b256-load0.000.csv", 0.30876902},
};

struct Cell {
  const char* profile;
  double factor;  ///< of the slope
  const char* scheme;
  double specified;  ///< seconds
  double tolerance;  ///< above it
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  const auto add =
      [&](const char* profile, double factor, std::vector<double> by_delay, double allowed) {
        static const char* const kSchemes[] = {"relay:T=0,accept_late=0",
                                               "relay:T=1,bundle=1,accept_late=0",
                                               "relay:T=2,bundle=1,accept_late=0",
                                               "relay:T=3,bundle=1,accept_late=0"};
        for (std::size_t t = 0; t < by_delay.size(); ++t) {
          all.push_back({profile, factor, kSchemes[t], by_delay[t], allowed});
        }
      };
  add("long", 1, {134.5, 132.7, 131.6, 130.7}, 0.015);
  add("long", 4, {148.3, 142.1, 139.9, 138.6}, 0.015);
  add("long", 16, {181.8, 168.6, 161.0, 157.3}, 0.015);
  add("mid", 1, {135.8, 133.9, 132.2, 131.5}, 0.015);
  add("mid", 16, {190.8, 174.0, 166.3, 161.1}, 0.015);
  add("short2", 1, {291.2, 291.0, 291.7, 291.7}, 0.025);
  add("short2", 16, {416.2, 396.1, 382.4, 379.3}, 0.025);
  const char* one = "relay:T=1,accept_late=0";
  const char* three = "relay:T=3,accept_late=0";
  all.push_back({"long", 1, one, 70.2, 0.03});
  all.push_back({"long", 1, three, 37.5, 0.03});
  all.push_back({"long", 16, one, 109.1, 0.03});
  all.push_back({"long", 16, three, 70.0, 0.03});
  all.push_back({"mid", 1, one, 71.2, 0.03});
  all.push_back({"mid", 1, three, 38.4, 0.03});
  all.push_back({"short2", 1, one, 154.1, 0.03});
  all.push_back({"short2", 1, three, 81.8, 0.03});
  all.push_back({"short2", 16, one, 218.4, 0.03});
  all.push_back({"short2", 16, three, 115.2, 0.03});
  return all;
}

class RelayOnlineTable : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RelayOnlineTable, TakesNoLongerThanSpecified) {
  const Profile& recorded = kProfiles[GetParam()];
  PACELINE_NEED_SHARED_FILE(path, recorded.file);
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile.has_value());
  for (const Cell& cell : cells()) {
    if (std::string(cell.profile) != recorded.name) continue;
    const Totals totals = totals_of(cell.scheme, *profile, {.slope = cell.factor * recorded.slope});
    fmt::print("{:<7} x{:<3} {:<34} {:8.1f} s, specified {:6.1f} ({:+.1f} %)\n",
               cell.profile,
               cell.factor,
               cell.scheme,
               totals.median,
               cell.specified,
               100 * (totals.median / cell.specified - 1));
    EXPECT_LE(totals.median, (1 + cell.tolerance) * cell.specified) << cell.scheme;
  }
}

TEST_P(RelayOnlineTable, StaysNearTheLimitWhereLateAnswersCount) {
  const Profile& recorded = kProfiles[GetParam()];
  PACELINE_NEED_SHARED_FILE(path, recorded.file);
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile.has_value());
  for (const double factor : {1.0, 4.0, 16.0}) {
    const Totals totals =
        totals_of("relay:T=3,bundle=1", *profile, {.slope = factor * recorded.slope});
    fmt::print("{:<7} x{:<3} {:<34} {:8.1f} s, {:.3f} of the limit\n",
               recorded.name,
               factor,
               "relay:T=3,bundle=1",
               totals.median,
               totals.mean_of_limit);
    EXPECT_LE(totals.mean_of_limit, 1.01);
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles,
                         RelayOnlineTable,
                         ::testing::Range(std::size_t{0}, kProfiles.size()),
                         [](const auto& each) { return std::string(kProfiles[each.param].name); });

TEST(RelayOnlineTable, TenWorkersWhoseTimesAreProportionalToTheLoad) {
  const std::vector<double> specified = {94.5, 166.4, 153.1, 24.0};
  for (int job = 1; job <= 4; ++job) {
    PACELINE_NEED_SHARED_FILE(path, fmt::format("traces/alibaba-pai-job{}.csv", job));
    const auto profile = read_delay_profile(path, {.unit = 1e-3});
    ASSERT_TRUE(profile.has_value());
    for (const char* scheme : {"relay:T=0,accept_late=0", "relay:T=3,bundle=1,accept_late=0"}) {
      const Totals totals = totals_of(scheme, *profile, {.proportional = true});
      const double expected = specified[static_cast<std::size_t>(job) - 1];
      fmt::print(
          "job {} {:<34} {:8.1f} s, specified {:6.1f}\n", job, scheme, totals.median, expected);
      EXPECT_LE(totals.median, 1.03 * expected) << scheme;
    }
  }
}

}  // namespace
}  // namespace paceline
