// Worked examples, entry by entry, from the specification of sequential gradient coding (sections
// 4.5, 5.7 and 5.8). Its jobs and rounds count from 1; so do the texts here.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scheme_player.hpp"

namespace paceline {
namespace {

using test::SchemePlayer;
using test::worker_set;

SchemePlayer player_of(const std::string& text, int workers, int jobs) {
  auto scheme = make_scheme(text, {.workers = workers, .jobs = jobs, .rule = CloseRule::kModel});
  EXPECT_TRUE(scheme) << scheme.error().message;
  return {std::move(scheme).value(), jobs};
}

/// M-SGC in the notation of the specification: a0, a1 = piece 0, 1 of the worker; c0, c1 = message
/// of group 0, 1; * = repeated; x = lost.
struct Notation {
  int workers, W, jobs;

  std::string entry(const SchemePlayer& player, int worker, bool lost) const {
    std::string text;
    const int data_chunks = workers * (W - 1);
    const auto index = static_cast<std::size_t>(worker);
    for (const MiniTask& task : player.plan().per_worker[index]) {
      if (task.job.value >= jobs) continue;
      if (!text.empty()) text += " ";
      text += "J" + std::to_string(task.job.value + 1) + ":";
      const int chunk = task.row.terms()[0].chunk.value;
      const int slot = player.round().value - task.job.value;
      if (chunk >= data_chunks) {
        text += "c" + std::to_string((chunk - data_chunks) / workers);
      } else {
        EXPECT_EQ(chunk / (W - 1), worker);
        text += "a" + std::to_string(chunk % (W - 1));
        if (slot >= W - 1) text += "*";
      }
      if (lost) text += "x";
    }
    return text;
  }
};

struct ScheduledRound {
  std::vector<int> stragglers;
  std::vector<std::string> entries;  ///< by worker
  int decoded;                       ///< job, from 1; 0: none
};

void expect_schedule(SchemePlayer player,
                     const Notation& notation,
                     const std::vector<ScheduledRound>& rounds) {
  for (const ScheduledRound& expected : rounds) {
    const WorkerSet lost = worker_set(notation.workers, expected.stragglers);
    for (int i = 0; i < notation.workers; ++i) {
      EXPECT_EQ(notation.entry(player, i, lost.contains(WorkerId{i})),
                expected.entries[static_cast<std::size_t>(i)])
          << "round " << player.round().value + 1 << ", worker " << i;
    }
    player.answer_all_but(lost);
    ASSERT_TRUE(player.may_close());
    int decoded = 0;
    for (const Decoding& decoding : player.close()) {
      if (decoding.complete && decoding.job.value < notation.jobs) {
        decoded = decoding.job.value + 1;
      }
    }
    EXPECT_EQ(decoded, expected.decoded);
    EXPECT_EQ(player.problem(), "");
  }
  EXPECT_TRUE(player.finished());
}

TEST(MSgcSchedule, FollowsTheFirstWorkedExample) {
  expect_schedule(
      player_of("m-sgc:B=1,W=3,lambda=1,code=cyclic", 4, 4),
      {.workers = 4, .W = 3, .jobs = 4},
      {{{}, {"J1:a0", "J1:a0", "J1:a0", "J1:a0"}, 0},
       {{1}, {"J1:a1 J2:a0", "J1:a1x J2:a0x", "J1:a1 J2:a0", "J1:a1 J2:a0"}, 0},
       {{},
        {"J1:c0 J2:a1 J3:a0", "J1:a1* J2:a1 J3:a0", "J1:c0 J2:a1 J3:a0", "J1:c0 J2:a1 J3:a0"},
        1},
       {{},
        {"J2:c0 J3:a1 J4:a0", "J2:a0* J3:a1 J4:a0", "J2:c0 J3:a1 J4:a0", "J2:c0 J3:a1 J4:a0"},
        2},
       {{3}, {"J3:c0 J4:a1", "J3:c0 J4:a1", "J3:c0 J4:a1", "J3:c0x J4:a1x"}, 3},
       {{}, {"J4:c0", "J4:c0", "J4:c0", "J4:a1*"}, 4}});
}

TEST(MSgcSchedule, FollowsTheSecondWorkedExample) {
  expect_schedule(
      player_of("m-sgc:B=2,W=3,lambda=2,code=cyclic", 4, 3),
      {.workers = 4, .W = 3, .jobs = 3},
      {{{0}, {"J1:a0x", "J1:a0", "J1:a0", "J1:a0"}, 0},
       {{0, 1}, {"J1:a1x J2:a0x", "J1:a1x J2:a0x", "J1:a1 J2:a0", "J1:a1 J2:a0"}, 0},
       {{1},
        {"J1:a0* J2:a1 J3:a0", "J1:a1*x J2:a1x J3:a0x", "J1:c0 J2:a1 J3:a0", "J1:c0 J2:a1 J3:a0"},
        0},
       {{},
        {"J1:a1* J2:a0* J3:a1", "J1:a1* J2:a0* J3:a1", "J1:c1 J2:c0 J3:a1", "J1:c1 J2:c0 J3:a1"},
        1},
       {{0}, {"J2:c1x J3:c0x", "J2:a1* J3:a0*", "J2:c1 J3:c0", "J2:c1 J3:c0"}, 2},
       {{}, {"J3:c1", "J3:c1", "J3:c1", "J3:c1"}, 3}});
}

/// The job of each worker's only mini-task, from 1.
std::vector<int> jobs_of(const SchemePlayer& player) {
  std::vector<int> jobs;
  for (const auto& list : player.plan().per_worker) jobs.push_back(list.at(0).job.value + 1);
  return jobs;
}

TEST(SrSgcSchedule, FollowsTheWorkedExample) {
  SchemePlayer player = player_of("sr-sgc:B=1,W=2,lambda=4,code=cyclic", 5, 3);
  EXPECT_DOUBLE_EQ(player.scheme().info().load, 3.0 / 5);  // s = 2

  EXPECT_EQ(jobs_of(player), (std::vector<int>{1, 1, 1, 1, 1}));
  player.answer_all_but(worker_set(5, {0, 1, 2, 3}));
  ASSERT_TRUE(player.may_close());
  EXPECT_TRUE(player.close().empty());

  EXPECT_EQ(jobs_of(player), (std::vector<int>{1, 1, 2, 2, 2}));
  for (const int straggler : {0, 1, 2, 3, 4}) {  // 0 ... 3 again, or a fifth distinct one
    SchemePlayer other = player;
    other.answer_all_but(worker_set(5, {straggler}));
    EXPECT_FALSE(other.may_close());
  }
  player.answer_all_but(worker_set(5, {}));
  ASSERT_TRUE(player.may_close());
  const std::vector<Decoding> decoded = player.close();
  ASSERT_EQ(decoded.size(), 2U);  // job 2 has n-s = 3 messages at once
  EXPECT_EQ(decoded[0].job, JobId{0});
  EXPECT_EQ(decoded[1].job, JobId{1});
  std::vector<MessageId> used;
  for (const Coefficient& term : decoded[0].terms) used.push_back(term.message);
  EXPECT_EQ(
      used,
      (std::vector<MessageId>{
          {WorkerId{0}, Round{1}, 0}, {WorkerId{1}, Round{1}, 0}, {WorkerId{4}, Round{0}, 0}}));

  EXPECT_EQ(jobs_of(player), (std::vector<int>{3, 3, 3, 3, 3}));
  player.answer_all_but(worker_set(5, {0, 1, 2, 3}));
  EXPECT_TRUE(player.may_close());
  EXPECT_EQ(player.problem(), "");
}

}  // namespace
}  // namespace paceline
