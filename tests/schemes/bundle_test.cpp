#include "schemes/bundle.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/scheme_player.hpp"

namespace paceline {
namespace {

std::unique_ptr<Scheme> make(const std::string& text, int workers) {
  auto scheme = make_scheme(text, {.workers = workers});
  EXPECT_TRUE(scheme) << scheme.error().message;
  return std::move(scheme).value();
}

TEST(Bundle, DealsWorkersAndJobsOutInTurn) {
  const auto scheme = make("uncoded:bundle=3", 6);
  EXPECT_EQ(scheme->info().jobs_per_round, 3);
  EXPECT_EQ(scheme->info().open_jobs, 3);
  const RoundPlan plan = scheme->plan(Round{0});
  for (int i = 0; i < 6; ++i) {
    const auto& list = plan.per_worker[static_cast<std::size_t>(i)];
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].job, JobId{i % 3});
    EXPECT_EQ(list[0].row.terms()[0].chunk, ChunkId{i / 3});
    EXPECT_DOUBLE_EQ(list[0].load, 0.5);
  }
}

TEST(Bundle, ClosesWhenEveryShareMay) {
  test::SchemePlayer player(make("gc:groups=2,bundle=2", 8), 6);
  // Shares {0, 2, 4, 6} and {1, 3, 5, 7}; in each the groups are every other worker.
  player.answer(WorkerId{0});
  player.answer(WorkerId{2});
  EXPECT_FALSE(player.may_close());
  player.answer(WorkerId{5});
  player.answer(WorkerId{1});
  EXPECT_FALSE(player.may_close());
  player.answer(WorkerId{7});
  ASSERT_TRUE(player.may_close());
  player.close();
  EXPECT_EQ(player.complete(), 2);
  EXPECT_EQ(player.problem(), "");
}

TEST(Bundle, SharesRememberTheirOwnStragglers) {
  // n = 4 in two shares of 2; SR-SGC repeats within a share only.
  test::SchemePlayer player(make("sr-sgc:B=1,W=2,lambda=2,code=repetition,bundle=2", 4), 8);
  player.answer_all_but(test::worker_set(4, {0, 2}));
  ASSERT_TRUE(player.may_close());
  const auto decoded = player.close();
  ASSERT_EQ(decoded.size(), 1U);
  EXPECT_EQ(decoded[0].job, JobId{1});
  EXPECT_EQ(player.plan().per_worker[0][0].job, JobId{0});
  EXPECT_EQ(player.plan().per_worker[1][0].job, JobId{3});
  EXPECT_EQ(player.plan().per_worker[2][0].job, JobId{2});
  EXPECT_EQ(player.plan().per_worker[3][0].job, JobId{3});
}

}  // namespace
}  // namespace paceline
