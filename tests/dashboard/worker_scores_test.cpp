#include "dashboard/worker_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "dashboard/rounds.hpp"

namespace paceline {
namespace {

using rounds::kIdle;
using rounds::kStraggles;
using rounds::make_round;

// Three rounds of 4 s. Medians: worker 0: of 1, 1, 3: 1; worker 1: of 2, 4, 2: 2; worker 2: of 4,
// 4, 4 (it never answers): 4; worker 3 had work once: 2.
TEST(WorkerScores, CompareMediansWithTheBestWorker) {
  WorkerScores scores(5);
  scores.add(make_round(0, 0, 4, {1, 2, kStraggles, kIdle, kIdle}));
  scores.add(make_round(1, 4, 4, {1, 4, kStraggles, 2, kIdle}));
  scores.add(make_round(2, 8, 4, {3, 2, kStraggles, kIdle, kIdle}));
  const auto found = scores.scores();
  EXPECT_DOUBLE_EQ(found[0].seconds, 1);
  EXPECT_DOUBLE_EQ(found[1].seconds, 2);
  EXPECT_DOUBLE_EQ(found[2].seconds, 4);
  EXPECT_DOUBLE_EQ(found[0].relative, 1);
  EXPECT_DOUBLE_EQ(found[1].relative, 0.5);
  EXPECT_DOUBLE_EQ(found[2].relative, 0.25);
  EXPECT_DOUBLE_EQ(found[3].relative, 0.5);
  EXPECT_TRUE(std::isnan(found[4].relative));
  for (const WorkerScore& score : found) EXPECT_TRUE(std::isnan(score.individual));
  EXPECT_EQ(found[2].straggled, 3);
  EXPECT_EQ(found[2].worked, 3);
  EXPECT_EQ(found[3].worked, 1);
  EXPECT_EQ(found[4].worked, 0);
}

TEST(WorkerScores, CompareAWorkerWithItsOwnBest) {
  constexpr int kWindow = WorkerScores::kWindow;
  WorkerScores scores(2);
  int r = 0;
  const auto play = [&](int count, double first) {
    for (int i = 0; i < count; ++i, ++r) scores.add(make_round(r, r, 9, {first, 1}));
  };
  play(kWindow - 1, 2);
  EXPECT_TRUE(std::isnan(scores.scores()[0].individual)) << "too little history";
  play(1, 2);
  EXPECT_DOUBLE_EQ(scores.scores()[0].individual, 1);
  // The median of 16 is the mean of the middle two: after 8 slow rounds that of 2 and 8.
  play(8, 8);
  EXPECT_DOUBLE_EQ(scores.scores()[0].individual, 2.0 / 5);
  play(8, 8);
  EXPECT_DOUBLE_EQ(scores.scores()[0].individual, 0.25);
  EXPECT_DOUBLE_EQ(scores.scores()[0].relative, 0.125);
  EXPECT_DOUBLE_EQ(scores.scores()[1].individual, 1);
  play(kWindow, 2);
  EXPECT_DOUBLE_EQ(scores.scores()[0].individual, 1) << "it has recovered";
}

TEST(WorkerScores, ForgetTimesButNotStragglers) {
  WorkerScores scores(1);
  for (int r = 0; r < 20; ++r) scores.add(make_round(r, r, 1, {kStraggles}));
  scores.forget_times();
  EXPECT_TRUE(std::isnan(scores.scores()[0].seconds));
  EXPECT_EQ(scores.scores()[0].straggled, 20);
  scores.add(make_round(20, 20, 1, {0.5}));
  EXPECT_DOUBLE_EQ(scores.scores()[0].seconds, 0.5);
  EXPECT_TRUE(std::isnan(scores.scores()[0].individual));
}

TEST(WorkerScores, BearTimesOfZero) {
  WorkerScores scores(2);
  for (int r = 0; r < 16; ++r) scores.add(make_round(r, r, 1, {0, 1}));
  EXPECT_EQ(scores.scores()[0].relative, 1);
  EXPECT_EQ(scores.scores()[0].individual, 1);
  EXPECT_EQ(scores.scores()[1].relative, 0);
}

// The slow and obvious version: all responses are kept, and each window is sorted anew.
TEST(WorkerScores, AgreeWithAllResponsesKept) {
  std::mt19937_64 bits(5);
  const auto median_at = [](const std::vector<float>& all, std::size_t end) {
    const std::size_t begin = end > WorkerScores::kWindow ? end - WorkerScores::kWindow : 0;
    std::vector<float> window(all.begin() + static_cast<std::ptrdiff_t>(begin),
                              all.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(window.begin(), window.end());
    const std::size_t half = window.size() / 2;
    return window.size() % 2 == 1 ? double{window[half]}
                                  : double{(window[half - 1] + window[half]) / 2};
  };
  WorkerScores scores(3);
  std::vector<std::vector<float>> kept(3);
  for (int r = 0; r < 200; ++r) {
    std::vector<double> response;
    for (auto& all : kept) {
      const auto drawn = bits() % 10;
      response.push_back(drawn == 0   ? kIdle
                         : drawn == 1 ? kStraggles
                                      : 0.25 * static_cast<double>(drawn));
      if (drawn != 0) all.push_back(drawn == 1 ? 4.0F : 0.25F * static_cast<float>(drawn));
    }
    scores.add(make_round(r, r, 4, response));
    const auto found = scores.scores();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i].empty()) continue;
      const double now = median_at(kept[i], kept[i].size());
      ASSERT_DOUBLE_EQ(found[i].seconds, now) << "round " << r;
      if (kept[i].size() < WorkerScores::kWindow) continue;
      double best = now;
      for (std::size_t end = WorkerScores::kWindow; end <= kept[i].size(); ++end) {
        best = std::min(best, median_at(kept[i], end));
      }
      ASSERT_DOUBLE_EQ(found[i].individual, best / now) << "round " << r;
      ASSERT_GT(found[i].relative, 0);
      ASSERT_LE(found[i].relative, 1);
    }
  }
}

}  // namespace
}  // namespace paceline
