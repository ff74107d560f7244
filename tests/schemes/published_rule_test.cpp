// Replays the rounds of a recorded profile the way the published program does and compares the
// totals with a table of that program's own results. Everything it knows of a scheme is its text.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "paceline/scheme.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

using Profile = std::vector<std::vector<double>>;  // [round][worker], seconds at load 0

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Comments ('#') and a first line that is no number are left out.
Profile read_profile(const std::string& path) {
  Profile profile;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || (line[0] != '.' && (line[0] < '0' || line[0] > '9'))) continue;
    std::vector<double> row;
    for (const std::string& cell : split(line)) row.push_back(std::stod(cell));
    profile.push_back(std::move(row));
  }
  return profile;
}

struct Totals {
  double runtime = 0;
  int waits = 0;
};

/// Every round: cut at (1+mu) times the fastest worker; if the round may not close on those that
/// are in, wait for all. Work of jobs past the last one is charged like any other, but a round with
/// nothing else costs nothing.
Totals replay(Scheme& scheme, int jobs, double mu, const Profile& profile, double slope) {
  Totals totals;
  int decoded = 0;
  for (Round round{0}; decoded < jobs; ++round.value) {
    const RoundPlan plan = scheme.plan(round);
    bool work = false;
    std::vector<double> time;
    for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
      double load = 0;
      for (const MiniTask& task : plan.per_worker[i]) {
        load += task.load;
        work = work || task.job.value < jobs;
      }
      time.push_back(profile[round.index()][i] + slope * load);
    }
    const double fastest = *std::ranges::min_element(time);
    const double slowest = *std::ranges::max_element(time);
    const auto answers_until = [&](double end) {
      Answers answers(scheme.info().workers);
      for (std::size_t i = 0; i < time.size(); ++i) {
        if (time[i] <= end) answers.done[i] = static_cast<int>(plan.per_worker[i].size());
      }
      return answers;
    };
    double end = work ? std::min((1 + mu) * fastest, slowest) : slowest;
    Answers answers = answers_until(end);
    if (!scheme.may_close(round, answers)) {
      ++totals.waits;
      end = slowest;
      answers = answers_until(end);
    }
    if (work) totals.runtime += end;
    for (const Decoding& decoding : scheme.close(round, answers)) {
      decoded += decoding.complete && decoding.job.value < jobs ? 1 : 0;
    }
  }
  return totals;
}

TEST(PublishedRule, GivesTheTotalsOfThePublishedProgram) {
  PACELINE_NEED_SHARED_FILE(table, "expected/published-rule-cnn-long-canada.csv");
  PACELINE_NEED_SHARED_FILE(trace, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  constexpr double kSlope = 1.12175331;  // the first line of the table has these
  constexpr int kJobs = 20;
  const Profile profile = read_profile(trace);
  ASSERT_GE(profile.size(), 30U);
  ASSERT_EQ(profile[0].size(), 256U);

  std::ifstream file(table);
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("scheme")) continue;
    const std::vector<std::string> cell = split(line);
    ASSERT_EQ(cell.size(), 9U) << line;
    std::string text = cell[0];
    if (text == "gc") text += ":s=" + cell[4];
    if (text.ends_with("sgc")) text += ":B=" + cell[1] + ",W=" + cell[2] + ",lambda=" + cell[3];
    auto scheme = make_scheme(
        text,
        {.workers = 256, .jobs = kJobs, .rule = CloseRule::kPublished, .keep_promise = false});
    ASSERT_TRUE(scheme) << scheme.error().message;
    EXPECT_NEAR((*scheme)->info().load, std::stod(cell[6]), 1e-8) << line;
    const Totals totals = replay(**scheme, kJobs, std::stod(cell[5]), profile, kSlope);
    EXPECT_NEAR(totals.runtime, std::stod(cell[7]), 1e-6) << line;
    EXPECT_EQ(totals.waits, std::stoi(cell[8])) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 80);
}

}  // namespace
}  // namespace paceline
