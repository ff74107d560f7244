#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

Expected<DelayProfile> parse(std::string_view text, const ImportOptions& options = {}) {
  return parse_delay_profile(text, "p.csv", options);
}

void expect_error(std::string_view text, const std::string& part, const std::string& columns = "") {
  const auto profile = parse(text, {.columns = columns});
  ASSERT_FALSE(profile) << text;
  const std::string& error = profile.error().message;
  EXPECT_NE(error.find(part), std::string::npos) << "'" << part << "' is not in: " << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(LongCsv, SortsRoundsAndWorkersByValue) {
  const auto profile = parse(
      "worker,round,seconds\n"
      "10,2,4\n9,2,3\n\n9,1,1\n10,1,2\n# load=0.25\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->rounds, 2);
  EXPECT_EQ(profile->workers, 2);
  EXPECT_EQ(profile->load, 0.25);
  EXPECT_EQ(profile->seconds, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_TRUE(profile->warnings.empty());
}

TEST(LongCsv, WithoutARoundColumnTheKthSampleOfAWorkerIsRoundK) {
  const auto profile = parse("worker,latency\na,1\na,3\nb,2\na,5\nb,4\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->seconds, (std::vector<double>{1, 2, 3, 4}));
  ASSERT_EQ(profile->warnings.size(), 1U);
  EXPECT_EQ(profile->warnings[0],
            "p.csv: the workers have 2 to 3 samples (fewest: worker 'b'); the first 2 of each are "
            "taken");
}

TEST(LongCsv, ColumnsAndUnitCanBeNamed) {
  const auto profile =
      parse("t,who,ms,seconds\n1,a,10,0\n1,b,20,0\n2,a,30,0\n2,b,40,0\n",
            {.columns = "round=t,worker=who,seconds=ms", .unit = 0.001, .load = 0.5});
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->rounds, 2);
  EXPECT_DOUBLE_EQ(profile->at(1, 1), 0.04);
  EXPECT_EQ(profile->load, 0.5);
}

TEST(LongCsv, LeavesOutRoundsWithMissingSamples) {
  const auto profile = parse("round,worker,seconds\n1,0,1\n1,1,2\n2,0,3\n3,0,5\n3,1,6\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->seconds, (std::vector<double>{1, 2, 5, 6}));
  ASSERT_EQ(profile->warnings.size(), 1U);
  EXPECT_EQ(profile->warnings[0],
            "p.csv: 1 of 3 rounds have missing samples, round '2' has none of worker '1'; they are "
            "left out");
}

TEST(LongCsv, RefusesATableThatIsMostlyGaps) {
  expect_error("round,worker,seconds\n1,0,1\n1,1,2\n2,0,3\n3,0,5\n", "2 of 3 rounds have missing");
  expect_error("round,worker,seconds\n1,0,1\n2,1,2\n3,2,3\n", "3 samples for 3 rounds");
}

TEST(LongCsv, RefusesACellWithItsLineAndColumn) {
  const std::string header = "worker,round,seconds\n";
  expect_error(header + "0,1,2\n0,2,-1\n", "line 3, column 3: '-1' is not a time");
  expect_error(header + "0,1,0\n", "line 2, column 3: '0' is not a time");
  expect_error(header + "0,1,fast\n", "line 2, column 3: 'fast' is not a number");
  expect_error(header + "0,1,\n", "line 2, column 3: a missing cell");
  expect_error(header + ",1,2\n", "line 2: column 1: a missing cell");
  expect_error(header + "0,,2\n", "line 2: column 2: a missing cell");
  expect_error(header + "0,1\n", "line 2: 2 cells, the header has 3");
  expect_error(header + "0,1,2\n0,1,3\n", "line 3: a second sample of worker '0' in round '1'");
  expect_error(header, "no samples");
}

TEST(LongCsv, NamesTheNearestColumn) {
  const std::string text = "who,round,length\n0,1,2\n";
  expect_error(text, "line 1: no column for the worker");
  expect_error(text, "no column for the seconds", "worker=who");
  expect_error(text, "did you mean 'length'?", "worker=who,seconds=lenght");
  expect_error(text, "did you mean 'worker'?", "worke=who");
  expect_error("1,2\n", "its first line names no columns", "worker=who");
}

TEST(LongCsv, RefusesOptionsOutOfRange) {
  EXPECT_FALSE(parse("1,2\n", {.unit = 0.0}));
  EXPECT_FALSE(parse("1,2\n", {.load = 1.5}));
  EXPECT_FALSE(parse("1,1e-200\n", {.unit = 1e-200}));
}

TEST(LongCsv, MissingSamplesOfAMeasuredJobAreSaid) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job2.csv");
  const auto counted = read_delay_profile(path, {.unit = 0.001});
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->workers, 10);
  EXPECT_EQ(counted->rounds, 239);
  ASSERT_EQ(counted->warnings.size(), 1U);
  EXPECT_NE(counted->warnings[0].find("239 to 250 samples"), std::string::npos);
  const auto timed = read_delay_profile(path, {.columns = "round=time"});
  ASSERT_FALSE(timed);
  EXPECT_NE(timed.error().message.find("line 2392: a second sample of worker '3' in round '2381'"),
            std::string::npos)
      << timed.error().message;
}

TEST(LongCsv, RoundsOfAMeasuredJobCanBeItsTimes) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job3.csv");
  const auto timed = read_delay_profile(path, {.columns = "round=time", .unit = 0.001});
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->rounds, 248);
  ASSERT_EQ(timed->warnings.size(), 1U);
  EXPECT_NE(timed->warnings[0].find(
                "1 of 249 rounds have missing samples, round '1' has none of worker '0'"),
            std::string::npos)
      << timed->warnings[0];
}

TEST(LongCsv, RelativeTimesAreDoubtful) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job2.csv");
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_NE(profile->warnings.back().find("--unit ms"), std::string::npos);
}

double median_of(std::vector<double> totals) {
  std::sort(totals.begin(), totals.end());
  return (totals[(totals.size() - 1) / 2] + totals[totals.size() / 2]) / 2;
}

// 200 jobs on four measured ten-worker jobs whose times are proportional to the load: medians over
// 20 bootstrapped profiles of the clairvoyant limit and of waiting for everybody, uncoded. Source:
// relay specification, 10.4.
TEST(LongCsv, MeasuredJobsHaveTheTotalsOfTheirTable) {
  const struct {
    double limit, uncoded;
  } table[] = {{88.1, 97.0}, {160.3, 181.8}, {143.3, 157.8}, {19.5, 75.1}};

  for (int job = 1; job <= 4; ++job) {
    PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job" + std::to_string(job) + ".csv");
    const auto profile = read_delay_profile(path, {.unit = 0.001});
    ASSERT_TRUE(profile) << profile.error().message;
    std::vector<double> limits, uncoded;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto replay = make_replay(bootstrap(*profile, 200, seed), {.proportional = true});
      ASSERT_TRUE(replay) << replay.error().message;
      limits.push_back(clairvoyant_total(**replay, 200, 1).count());
      uncoded.push_back(0);
      for (int r = 0; r < 200; ++r) {
        double slowest = 0;
        for (int i = 0; i < 10; ++i) {
          slowest = std::max(slowest, (*replay)->delay(Round{r}, WorkerId{i}).at(0.1).count());
        }
        uncoded.back() += slowest;
      }
    }
    EXPECT_NEAR(median_of(limits), table[job - 1].limit, 0.06) << "job " << job;
    EXPECT_NEAR(median_of(uncoded), table[job - 1].uncoded, 0.06) << "job " << job;
  }
}

}  // namespace
}  // namespace paceline
