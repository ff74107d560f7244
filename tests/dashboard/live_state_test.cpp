#include "paceline/live_state.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "dashboard/rounds.hpp"

namespace paceline {
namespace {

constexpr int kWorkers = 4;
constexpr int kModels = 2;

LiveScheme scheme(int number, int jobs) {
  return {.number = number,
          .schemes = 2,
          .label = "gc:s=1",
          .jobs = jobs,
          .predicted = {},
          .limit = {}};
}

std::unique_ptr<LiveState> begun(int jobs = 100000) {
  auto state = std::make_unique<LiveState>();
  state->describe(rounds::run_of(kWorkers, kModels));
  state->begin(scheme(1, jobs));
  return state;
}

Seen seen_by(const LiveView& view) {
  return {.run = view.run.id,
          .scheme = view.scheme.number,
          .rounds = view.rounds,
          .stride = view.stride};
}

TEST(LiveState, HasNothingBeforeASchemeBegins) {
  LiveState state;
  const LiveView view = state.view({});
  EXPECT_EQ(view.scheme.number, 0);
  EXPECT_TRUE(view.columns.empty());
  EXPECT_FALSE(view.left());
}

TEST(LiveState, CountsRoundsJobsAndTimes) {
  const auto state = begun(20);
  rounds::play(*state, kWorkers, kModels, 0, 8);
  const LiveView view = state->view({});
  EXPECT_TRUE(view.anew);
  EXPECT_EQ(view.rounds, 8);
  EXPECT_EQ(view.jobs, 8);
  EXPECT_EQ(view.stragglers, 8);
  EXPECT_EQ(view.newest_round.round, 7);
  EXPECT_DOUBLE_EQ(view.newest_round.closed.count(), 4);  // 8 rounds of 0.5 s, whenever they began
  EXPECT_DOUBLE_EQ(view.newest_round.slowest->count(), 6);
  EXPECT_DOUBLE_EQ(view.newest_round.limit->count(), 1.6);
  EXPECT_DOUBLE_EQ(view.left()->count(), 6);  // 12 jobs at 0.5 s
  EXPECT_DOUBLE_EQ(view.loss[1], 1.0 / 8);
  ASSERT_EQ(view.columns.size(), 8U);
  const LiveColumn& column = view.columns[6];
  EXPECT_EQ(column.straggled, (std::vector<int>{0, 0, 1, 0}));
  EXPECT_EQ(column.response[2].count, 0);
  EXPECT_FLOAT_EQ(column.response[3].value, 0.25F);
  EXPECT_EQ(column.loss[1].count, 0);
  EXPECT_FLOAT_EQ(column.loss[0].value, 1.0F / 7);
  EXPECT_EQ(view.totals.straggled, (std::vector<long long>{2, 2, 2, 2}));
  EXPECT_EQ(view.totals.round_counts[8], 8) << "0.25 < 0.5 <= 0.5";
}

TEST(LiveState, DoesNotKnowTheSlowestWhereOneRoundDoesNot) {
  const auto state = begun();
  rounds::play(*state, kWorkers, kModels, 0, 2);
  state->add(rounds::make_round(2, 11, 1, {0.5, 0.5, 0.5, 0.5}), {}, "gc:s=1", {});
  rounds::play(*state, kWorkers, kModels, 3, 2);
  EXPECT_FALSE(state->numbers().newest_round.slowest);
}

// However long a run is: whoever asks for what is new and keeps the rest ends with the same columns
// as one who asks for all, and these say what the rounds were.
TEST(LiveState, TellsAReaderOnlyWhatIsNew) {
  const auto state = begun();
  std::vector<LiveColumn> kept;
  Seen seen;
  int played = 0;
  std::size_t most_told = 0;
  int anew = 0;
  for (const int count : {1, 3, 0, 500, 519, 1, 1, 1, 60, 964, 1, 7, 2000, 3, 0, 1}) {
    rounds::play(*state, kWorkers, kModels, played, count);
    played += count;
    const LiveView view = state->view(seen);
    if (view.anew) {
      kept.clear();
      ++anew;
    } else {
      most_told = std::max(most_told, view.columns.size());
    }
    kept.resize(static_cast<std::size_t>(view.first_column));
    kept.insert(kept.end(), view.columns.begin(), view.columns.end());
    seen = seen_by(view);
    EXPECT_LE(view.newest.size(), static_cast<std::size_t>(LiveState::kNewest));

    const LiveView all = state->view({});
    ASSERT_EQ(kept.size(), all.columns.size()) << played;
    ASSERT_LE(kept.size(), static_cast<std::size_t>(LiveState::kMostColumns));
    int round = 0;
    for (std::size_t c = 0; c < kept.size(); ++c) {
      ASSERT_EQ(kept[c].round, round);
      ASSERT_EQ(kept[c].round, all.columns[c].round);
      ASSERT_EQ(kept[c].rounds, all.columns[c].rounds);
      ASSERT_EQ(kept[c].straggled, all.columns[c].straggled);
      ASSERT_EQ(kept[c].stragglers, kept[c].rounds);
      int straggled = 0;
      for (int i = 0; i < kWorkers; ++i) {
        straggled += kept[c].straggled[static_cast<std::size_t>(i)];
        const Mean& response = kept[c].response[static_cast<std::size_t>(i)];
        ASSERT_EQ(response.count, kept[c].rounds - kept[c].straggled[static_cast<std::size_t>(i)]);
      }
      ASSERT_EQ(straggled, kept[c].rounds);
      round += kept[c].rounds;
      ASSERT_EQ(kept[c].jobs, round);
      ASSERT_DOUBLE_EQ(kept[c].closed.count(), 0.5 * round);
      ASSERT_NEAR(kept[c].slowest->count(), 0.75 * round, 1e-9);
    }
    ASSERT_EQ(round, played);
  }
  EXPECT_LE(most_told, 520U);
  EXPECT_EQ(anew, 3) << "at first, and at each doubling that the reader meets";
}

TEST(LiveState, StaysBoundedForManyWorkersAndRounds) {
  constexpr int kMany = 2000;
  LiveState state;
  state.describe(rounds::run_of(kMany, 1));
  state.begin(scheme(1, 1000));
  rounds::play(state, kMany, 1, 0, 1000);
  const LiveView view = state.view({});
  EXPECT_LE(view.columns.size() * kMany, static_cast<std::size_t>(LiveState::kMostCells));
  EXPECT_EQ(view.stride, 4);
  EXPECT_EQ(view.newest.size(), static_cast<std::size_t>(LiveState::kNewest));
}

TEST(LiveState, GivesTheNewestRoundsOneByOne) {
  const auto state = begun();
  rounds::play(*state, kWorkers, kModels, 0, 3000);
  const Seen seen = seen_by(state->view({}));
  rounds::play(*state, kWorkers, kModels, 3000, 5);
  const LiveView view = state->view(seen);
  EXPECT_FALSE(view.anew);
  ASSERT_EQ(view.newest.size(), 5U);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(view.newest[static_cast<std::size_t>(k)].round, 3000 + k);
    EXPECT_EQ(view.newest[static_cast<std::size_t>(k)].rounds, 1);
  }
}

TEST(LiveState, BeginsAnewForAnotherSchemeAndAnotherRun) {
  const auto state = begun(8);
  rounds::play(*state, kWorkers, kModels, 0, 8);
  Seen seen = seen_by(state->view({}));
  state->end();
  EXPECT_TRUE(state->numbers().ended);
  state->begin(scheme(2, 50));
  const LiveView view = state->view(seen);
  EXPECT_TRUE(view.anew);
  EXPECT_FALSE(view.ended);
  EXPECT_EQ(view.jobs, 0);
  EXPECT_TRUE(view.columns.empty());
  ASSERT_EQ(view.before.size(), 1U);
  EXPECT_TRUE(view.before[0].whole);
  EXPECT_EQ(view.before[0].jobs, 8);
  EXPECT_DOUBLE_EQ(view.before[0].elapsed.count(), 4);
  EXPECT_EQ(view.totals.jobs, 8) << "counts go on";

  rounds::play(*state, kWorkers, kModels, 0, 9);
  seen = seen_by(state->view({}));
  EXPECT_FALSE(state->view(seen).anew);
  seen.run = "another";
  EXPECT_TRUE(state->view(seen).anew);
  seen = seen_by(state->view({}));
  seen.rounds = 1000;
  EXPECT_TRUE(state->view(seen).anew) << "more than there are";
}

TEST(LiveState, ForgetsHowFastWorkersWereUnderAnotherLabel) {
  const auto state = begun();
  rounds::play(*state, kWorkers, kModels, 0, 40);
  EXPECT_FALSE(std::isnan(state->numbers().workers[0].individual));
  state->add(rounds::make_round(40, 30, 1, {1, 1, 1, 1}), {}, "auto: uncoded", {});
  const LiveView view = state->numbers();
  EXPECT_EQ(view.playing, "auto: uncoded");
  EXPECT_TRUE(std::isnan(view.workers[0].individual));
  EXPECT_DOUBLE_EQ(view.workers[0].seconds, 1);
}

TEST(LiveState, IsReadWhileRoundsAreAdded) {
  const auto state = begun();
  std::jthread writer([&state] { rounds::play(*state, kWorkers, kModels, 0, 3000); });
  Seen seen;
  while (seen.rounds < 3000) {
    const LiveView view = state->view(seen);
    int rounds = view.first_column * view.stride;
    for (const LiveColumn& column : view.columns) rounds += column.rounds;
    ASSERT_EQ(rounds, view.rounds);
    seen = seen_by(view);
  }
}

}  // namespace
}  // namespace paceline
