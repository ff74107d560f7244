// Every total of the published program's replay: scheme, engine, close policy and simulator
// together reproduce it, round by round.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "paceline/close_policy.hpp"
#include "paceline/delays.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

constexpr int kJobs = 20;
constexpr double kSlope = 1.12175331;

struct Row {
  std::string scheme;  ///< text for make_scheme
  std::string mu;
  double load = 0;
  double runtime = 0;
  int waits = 0;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line);
  for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Columns: scheme,B,W,lambda,s,mu,load,runtime,waits.
std::vector<Row> read_rows(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("scheme,")) continue;
    const auto cell = cells_of(line);
    Row row{cell[0], cell[5], std::stod(cell[6]), std::stod(cell[7]), std::stoi(cell[8])};
    if (!cell[1].empty()) {
      row.scheme += fmt::format(":B={},W={},lambda={}", cell[1], cell[2], cell[3]);
    } else if (!cell[4].empty()) {
      row.scheme += ":s=" + cell[4];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Plays every row with this mu and compares load, total and waits.
void compare_rows(const std::string& mu) {
  PACELINE_NEED_SHARED_FILE(table, "expected/published-rule-cnn-long-canada.csv");
  PACELINE_NEED_SHARED_FILE(trace, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  const auto profile = read_delay_profile(trace);
  ASSERT_TRUE(profile) << profile.error().message;
  const auto replay = make_replay(*profile, {.slope = kSlope});
  ASSERT_TRUE(replay) << replay.error().message;
  const auto rows = read_rows(table);
  ASSERT_EQ(rows.size(), 80U);
  int compared = 0;
  for (const Row& row : rows) {
    if (row.mu != mu) continue;
    ++compared;
    SCOPED_TRACE(row.scheme + " mu=" + row.mu);
    auto scheme = make_scheme(row.scheme,
                              {.workers = profile->workers,
                               .jobs = kJobs,
                               .rule = CloseRule::kPublished,
                               .keep_promise = false});
    ASSERT_TRUE(scheme) << scheme.error().message;
    EXPECT_NEAR((*scheme)->info().load, row.load, 1e-9);
    const int models = (*scheme)->info().open_jobs;
    auto policy = make_close_policy("published:mu=" + row.mu);
    ASSERT_TRUE(policy) << policy.error().message;
    const auto coordinator = make_round_coordinator(
        std::move(*scheme),
        std::move(*policy),
        {.jobs = kJobs, .models = models, .cancel_stragglers = true, .charge_missing_jobs = true});
    ASSERT_TRUE(coordinator) << coordinator.error().message;
    const auto result = simulate(**coordinator, **replay);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->jobs, kJobs);
    EXPECT_NEAR(result->total.count(), row.runtime, 1e-6);
    EXPECT_EQ(result->wait_outs, row.waits);
  }
  EXPECT_EQ(compared, 40);
}

TEST(PublishedTotals, EveryRowWithToleranceHalfIsReproduced) { compare_rows("0.5"); }

TEST(PublishedTotals, EveryRowWithToleranceOneIsReproduced) { compare_rows("1"); }

}  // namespace
}  // namespace paceline
