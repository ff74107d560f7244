// A run in wall time, with threads and injected delays, that chooses its own scheme. The cluster
// changes in the middle of it.
#include "paceline/auto_pilot.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "paceline/local_runtime.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

constexpr int kWorkers = 8;
constexpr int kModels = 2;
constexpr int kJobs = 440;
constexpr int kChange = 80;  // the first round of the other cluster

/// All take 2 ms. From round kChange on they take 5 ms, and 20 ms in one round of seven.
double milliseconds(int round, int worker) {
  if (round < kChange) return 2;
  return (3 * round + 5 * worker) % 7 == 0 ? 20 : 5;
}

TEST(AutoPilot, TunesAgainInALiveRunWhoseClusterChanges) {
  const test::ScriptedDelays delays(kWorkers, milliseconds);
  auto switching = SwitchingCoordinator::make(measuring_choice(kWorkers, kModels, "eager"),
                                              {.workers = kWorkers,
                                               .jobs = kJobs,
                                               .models = kModels,
                                               .batch_size = test::kBatch,
                                               .study_between_rounds = false})
                       .value();
  AutoPilot pilot(*switching, {.models = kModels, .jobs = 40}, kWorkers, kJobs);
  std::vector<std::string> lines;
  test::TrainingRun run(kWorkers, kWorkers);
  run.rounds = {.jobs = kJobs, .models = kModels};
  run.options.chunk_size = switching->chunk_size();
  run.options.shape = {SwitchingCoordinator::kParts};
  run.options.delays = &delays;
  run.options.verify = true;
  run.options.observer = [&](const RoundReport& report) {
    if (const auto line = pilot.on_round(*report.record)) lines.push_back(*line);
    pilot.wait_for_search();  // however slow this machine is, jobs are left for the rest
  };
  const auto result = run.go(*switching);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->jobs, kJobs);
  EXPECT_LT(result->worst_verify_error, 1e-6) << "no switch loses or doubles a job";

  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  EXPECT_NE(all.find("measures again"), std::string::npos) << all;
  const auto& segments = switching->segments();
  ASSERT_GE(segments.size(), 3U) << all;
  EXPECT_FALSE(segments.back().choice.scheme.starts_with("uncoded")) << all;
  EXPECT_TRUE(pilot.predicted().has_value());
  EXPECT_GT(clairvoyant_total(delays, segments, kJobs), Seconds{0});
  EXPECT_LT(clairvoyant_total(delays, segments, kJobs), result->total);
}

}  // namespace
}  // namespace paceline
