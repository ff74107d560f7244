// The whole published table: all 19,712 candidates on the measured profile against play().
#include <gtest/gtest.h>

#include "paceline/play.hpp"
#include "paceline/published_search.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

TEST(PublishedSearch, HasThePlayedTotalsOfTheMeasuredProfile) {
  PACELINE_NEED_SHARED_FILE(trace, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  const auto profile = read_delay_profile(trace);
  ASSERT_TRUE(profile) << profile.error().message;
  const ReplayOptions replay = {.slope = 1.12175331};
  const auto delays = make_replay(*profile, replay);
  const auto search = published_search(*profile, {.replay = replay});
  ASSERT_TRUE(delays && search);
  EXPECT_EQ(search->candidates.size(), 19712U);
  for (const PublishedCandidate& candidate : search->candidates) {
    const auto played = play(candidate.text(), **delays, {.jobs = 20, .close = "published:mu=1"});
    ASSERT_TRUE(played) << played.error().message;
    ASSERT_NEAR(candidate.total.count(), played->result.total.count(), 1e-9) << candidate.text();
    ASSERT_EQ(candidate.wait_outs, played->result.wait_outs) << candidate.text();
  }
}

}  // namespace
}  // namespace paceline
