#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

std::string error_of(std::string_view text) {
  const auto profile = parse_delay_profile(text, "p.csv");
  return profile ? "no error" : profile.error().message;
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "'" << part << "' is not in: " << whole;
  EXPECT_EQ(whole.find('\n'), std::string::npos) << "more than one line: " << whole;
}

TEST(DelayProfile, GivesTheColumnsOfItsFirstWorkers) {
  const DelayProfile profile = parse_delay_profile("# load=0.5\n1,2,3\n4,5,6\n", "p").value();
  const DelayProfile part = first_workers(profile, 2);
  EXPECT_EQ(part.workers, 2);
  EXPECT_EQ(part.rounds, 2);
  EXPECT_EQ(part.load, 0.5);
  EXPECT_EQ(part.seconds, (std::vector<double>{1, 2, 4, 5}));
  EXPECT_EQ(first_workers(profile, 3).seconds, profile.seconds);
  EXPECT_THROW(first_workers(profile, 4), ContractViolation);
}

TEST(DelayProfile, ReadsRowsAsRoundsAndColumnsAsWorkers) {
  const auto profile = parse_delay_profile("1,2,3\n4,5.5,6e-1\n", "p.csv");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->rounds, 2);
  EXPECT_EQ(profile->workers, 3);
  EXPECT_EQ(profile->load, 0);
  EXPECT_EQ(profile->seconds, (std::vector<double>{1, 2, 3, 4, 5.5, 0.6}));
  EXPECT_EQ(profile->at(1, 0), 4);
}

TEST(DelayProfile, ReadsTheHeaderWhereverItStands) {
  const auto profile = parse_delay_profile(
      "# seconds\n# workers=2 load=0.25 region=Canada\n1,2\n3,4\n# rounds=2", "p.csv");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->load, 0.25);
}

TEST(DelayProfile, AcceptsCarriageReturnsBlanksAndAMissingOrRepeatedLastNewline) {
  for (const char* text : {"1,2\r\n3,4\r\n", "1,2\n3,4", "1, 2\n\t3 ,4\n", "1,2\n3,4\n\r\n \n"}) {
    const auto profile = parse_delay_profile(text, "p.csv");
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(profile->seconds, (std::vector<double>{1, 2, 3, 4}));
  }
}

TEST(DelayProfile, RefusesACellWithItsLineAndColumn) {
  const struct {
    const char* text;
    const char* place;
    const char* what;
  } cases[] = {
      {"1,,3\n", "line 1, column 2", "a missing cell"},
      {"1,2,\n", "line 1, column 3", "a missing cell"},
      {"# c\n1,2\n3,-4\n", "line 3, column 2", "'-4' is not a time"},
      {"1,0\n", "line 1, column 2", "'0' is not a time"},
      {"1,inf\n", "line 1, column 2", "'inf' is not a time"},
      {"1,nan\n", "line 1, column 2", "'nan' is not a time"},
      {"1,1e999\n", "line 1, column 2", "'1e999' is not a time"},
      {"1,1s\n", "line 1, column 2", "'1s' is not a number"},
      {"worker\n", "line 1, column 1", "'worker' is not a number"},
      {"1;2\n", "line 1, column 1", "'1;2' is not a number"},
  };

  for (const auto& each : cases) {
    const std::string error = error_of(each.text);
    expect_in("p.csv: ", error);
    expect_in(each.place, error);
    expect_in(each.what, error);
    expect_in("allowed: one response time per worker, in seconds, > 0", error);
  }
}

TEST(DelayProfile, RefusesRaggedRows) {
  expect_in("line 2, column 3: the row ends after 2 cells", error_of("1,2,3\n1,2\n"));
  expect_in("line 2, column 3: one cell more than the 2", error_of("1,2\n1,2,3\n"));
}

TEST(DelayProfile, RefusesAnEmptyLineBetweenRounds) {
  expect_in("line 2: an empty line", error_of("1,2\n\n3,4\n"));
}

TEST(DelayProfile, RefusesATextWithoutRounds) {
  for (const char* text : {"", "\n", "# load=0.5\n"}) expect_in("no rounds", error_of(text));
}

TEST(DelayProfile, RefusesAHeaderThatDisagreesWithTheTable) {
  expect_in("header says workers=3, the table has 2", error_of("# workers=3\n1,2\n"));
  expect_in("header says rounds=3, the table has 1", error_of("# rounds=3\n1,2\n"));
  expect_in("load=0.5, but load=0.25 before", error_of("# load=0.25\n# load=0.5\n1,2\n"));
}

TEST(DelayProfile, RefusesHeaderValuesOutOfRange) {
  for (const char* load : {"1.5", "-0.1", "nan", "x", ""}) {
    const std::string error = error_of(std::string("# load=") + load + "\n1\n");
    expect_in("line 1: load='", error);
    expect_in("0 <= load <= 1", error);
  }
  expect_in("an integer >= 1", error_of("# workers=0\n1\n"));
  expect_in("an integer >= 1", error_of("# rounds=1.5\n1\n"));
}

TEST(DelayProfile, ErrorsShowUnprintableBytesAsQuestionMarks) {
  expect_in("'?\?(' is not a number", error_of("\xc3\x01(\n"));
}

TEST(DelayProfile, NamesAFileThatCannotBeRead) {
  const auto missing = read_delay_profile("/no/such/profile.csv");
  ASSERT_FALSE(missing);
  expect_in("'/no/such/profile.csv': No such file", missing.error().message);
  const auto folder = read_delay_profile(PACELINE_SOURCE_DIR);
  ASSERT_FALSE(folder);
  expect_in("Is a directory", folder.error().message);
}

TEST(DelayProfile, ReadsAMeasuredProfile) {
  PACELINE_NEED_SHARED_FILE(path, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->rounds, 30);
  EXPECT_EQ(profile->workers, 256);
  EXPECT_EQ(profile->at(0, 0), 0.7638);
}

}  // namespace
}  // namespace paceline
