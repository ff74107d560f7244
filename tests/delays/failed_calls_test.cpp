#include "delays/failed_calls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/shared_files.hpp"

namespace paceline {
namespace {

DelayProfile flat(double load, double seconds) { return {1, 3, load, {seconds, seconds, seconds}}; }

TEST(FailedCalls, RefusesAMedianFarBelowTheLineOfTheSameRun) {
  const std::vector<DelayProfile> siblings = {flat(0.5, 11), flat(1, 12)};
  EXPECT_TRUE(check_calls_succeeded(flat(0, 2.51), "p", siblings));
  const auto refused = check_calls_succeeded(flat(0, 2.49), "p", siblings);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("looks like failed calls"), std::string::npos);
}

TEST(FailedCalls, SaysNothingWithoutTwoGreaterLoads) {
  const std::vector<DelayProfile> lower = {flat(0, 10), flat(0.25, 10)};
  EXPECT_TRUE(check_calls_succeeded(flat(0.5, 0.1), "p", lower));
  const std::vector<DelayProfile> same = {flat(1, 10), flat(1, 12)};
  EXPECT_TRUE(check_calls_succeeded(flat(0.5, 0.1), "p", same));
}

TEST(FailedCalls, ANameWithoutALoadHasNoSiblings) {
  EXPECT_TRUE(profiles_of_the_same_run("/tmp/profile.csv").empty());
  EXPECT_TRUE(profiles_of_the_same_run("payload.csv").empty());
}

TEST(FailedCalls, AMeasuredRunHasItsOtherLoadsAsSiblings) {
  PACELINE_NEED_SHARED_FILE(path, "traces/lambda-resnet18-b-canada-b256-load0.000.csv");
  EXPECT_EQ(profiles_of_the_same_run(path).size(), 5U);
}

// The measurements' own notes say of exactly these two files that all calls failed.
TEST(FailedCalls, OfTheMeasuredProfilesExactlyTheTwoBadOnesAreRefused) {
  PACELINE_NEED_SHARED_FILE(folder, "traces");
  int good = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("lambda-")) continue;
    const auto profile = read_delay_profile(entry.path().string());
    const bool bad = name == "lambda-resnet18-b-canada-b256-load0.000.csv" ||
                     name == "lambda-resnet18-c-canada-b256-load0.000.csv";
    EXPECT_EQ(profile.has_value(), !bad) << name;
    if (bad && !profile) {
      EXPECT_NE(profile.error().message.find("looks like failed calls"), std::string::npos)
          << profile.error().message;
    }
    good += bad ? 0 : 1;
  }
  EXPECT_GE(good, 20);
}

}  // namespace
}  // namespace paceline
