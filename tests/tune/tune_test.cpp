#include "paceline/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

namespace paceline {
namespace {

DelayTable modelled(const char* model, int workers, int rounds) {
  return DelayTable::record(**make_delay_model(model, workers, 5), rounds);
}

TuneOptions quick() {
  TuneOptions options;
  options.schemes = {"uncoded", "uncoded-fewer", "gc", "gc-fewer"};
  options.max_delay = 0;
  options.most_jobs_per_round = 1;
  options.jobs = 30;
  options.search_resamples = 3;
  options.score_resamples = 10;
  return options;
}

/// Slow workers from `first_slow` on, all the time, and a little noise that nobody straggles by.
class HalfSlow final : public DelaySource {
 public:
  explicit HalfSlow(int first_slow) : first_slow_(first_slow) {}

  int workers() const override { return 8; }

  Delay delay(Round round, WorkerId worker) const override {
    const double noise = 0.01 * ((7 * round.value + 3 * worker.value) % 5);
    return {Seconds{0}, Seconds{(worker.value >= first_slow_ ? 5 : 1) + noise}};
  }

 private:
  int first_slow_;
};

TEST(Tune, StaysUncodedWhereNobodyStraggles) {
  const auto tuning = tune(DelayTable::record(HalfSlow(8), 30), quick());
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->schemes[tuning->recommended].family, "uncoded");
  EXPECT_TRUE(tuning->advice.starts_with("Stay uncoded: ")) << tuning->advice;
  EXPECT_TRUE(tuning->slow_workers.empty());
}

TEST(Tune, DropsTheHalfThatIsAlwaysSlow) {
  const auto tuning = tune(DelayTable::record(HalfSlow(4), 30), quick());
  ASSERT_TRUE(tuning) << tuning.error().message;
  const TunedScheme& best = tuning->schemes[tuning->recommended];
  EXPECT_EQ(best.left_out, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_TRUE(
      tuning->advice.starts_with("Half of your workers are always slow: drop them (workers "
                                 "4, 5, 6 and 7) and stay uncoded on the others: "))
      << tuning->advice;
  EXPECT_NEAR(best.seconds_per_job.mean, 1.04 / 4, 0.01);
}

TEST(Tune, AdvisesRedundancyWhereWorkersStraggle) {
  const auto tuning = tune(
      modelled("bursty:base=0.5,slope=0.2,slow=6,bad=0.1,good=0.6,noise=0.02", 12, 60), quick());
  ASSERT_TRUE(tuning) << tuning.error().message;
  const TunedScheme& best = tuning->schemes[tuning->recommended];
  EXPECT_EQ(best.family, "gc");
  EXPECT_GT(best.info.load, 1.0 / 12);
  EXPECT_EQ(best.folds.size(), 3U);
  EXPECT_GE(best.ratio_to_limit(), 1);
  EXPECT_TRUE(tuning->advice.starts_with("Use gc:groups=")) << tuning->advice;
}

// Every second worker is five times as slow, but gets things done. Repetition in 3 groups takes 8/3
// seconds: no code with less load has an answer of a fast worker for everything. Of two chunks each
// the fast workers have done both, and with them all that the slow ones have not, after 2 seconds.
TEST(Tune, FindsPartialResultsWhereSlowWorkersGetThingsDone) {
  class Slower final : public DelaySource {
   public:
    int workers() const override { return 8; }

    Delay delay(Round round, WorkerId worker) const override {
      const bool slow = (worker.value + round.value) % 2 == 0;
      return {Seconds{0.01}, Seconds{slow ? 40 : 8}};
    }
  };

  TuneOptions options = quick();
  options.schemes = {"uncoded", "gc", "partial", "partial-gc", "clusters"};
  const auto tuning = tune(DelayTable::record(Slower(), 30), options);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->schemes.size(), 5U);
  EXPECT_EQ(tuning->schemes[tuning->recommended].info.label(), "partial:r=2") << tuning->advice;
}

// What an estimate promises: on delays whose truth is known, 95 % intervals hold it nearly always.
TEST(Tune, IntervalsHoldTheTruth) {
  TuneOptions options = quick();
  options.schemes = {"uncoded"};
  // The mean of the slowest of 4 exponential workers: 1 + 1/2 + 1/3 + 1/4 times the mean of one.
  const double truth = 0.2 + 0.1 * (25.0 / 12);
  int holds = 0;
  constexpr int kClusters = 40;
  for (std::uint64_t seed = 0; seed < kClusters; ++seed) {
    const auto model = make_delay_model("exponential:base=0.2,mean=0.1", 4, seed);
    const auto tuning = tune(DelayTable::record(**model, 60), options);
    ASSERT_TRUE(tuning) << tuning.error().message;
    const Estimate& estimate = tuning->schemes[0].seconds_per_job;
    holds += std::abs(estimate.mean - truth) <= estimate.half_width ? 1 : 0;
  }
  EXPECT_GE(holds, 34);  // 95 % are 38
}

TEST(Tune, DifferencesArePaired) {
  const auto tuning =
      tune(modelled("bursty:base=0.5,slope=0.2,slow=6,bad=0.1,good=0.6", 12, 60), quick());
  ASSERT_TRUE(tuning) << tuning.error().message;
  const TunedScheme& uncoded = tuning->schemes[0];
  const TunedScheme& other = tuning->schemes[2];
  EXPECT_EQ(difference(uncoded, uncoded, *tuning).half_width, 0);
  const Estimate gap = difference(uncoded, other, *tuning);
  EXPECT_NEAR(gap.mean, uncoded.seconds_per_job.mean - other.seconds_per_job.mean, 1e-12);
  EXPECT_NEAR(gap.mean, -difference(other, uncoded, *tuning).mean, 1e-12);
}

TEST(Tune, DoesNotDependOnTheNumberOfThreads) {
  const DelayTable delays = modelled("bursty:base=0.5,slope=0.2,slow=6,bad=0.1,good=0.6", 12, 24);
  const auto one = tune(delays, quick(), {.threads = 1, .on_progress = {}});
  const auto three = tune(delays, quick(), {.threads = 3, .on_progress = {}});
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->advice, three->advice);
  for (std::size_t i = 0; i < one->schemes.size(); ++i) {
    EXPECT_EQ(one->schemes[i].scores, three->schemes[i].scores);
  }
}

TEST(Tune, ReturnsWhatItHasWhenInterrupted) {
  const DelayTable delays = modelled("bursty:base=0.5,slope=0.2,slow=6,bad=0.1,good=0.6", 12, 24);
  std::atomic<bool> stop{false};
  SearchControl control;
  control.interrupted = &stop;
  control.on_progress = [&](const SearchProgress& progress) {
    EXPECT_LE(progress.done, 1);
    if (progress.what.starts_with("gc")) stop = true;
  };
  const auto tuning = tune(delays, quick(), control);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_TRUE(tuning->interrupted);
  EXPECT_EQ(tuning->schemes.size(), 2U);  // uncoded and uncoded-fewer
  control.on_progress = {};
  EXPECT_EQ(tune(delays, quick(), control).error().code, ErrorCode::kInterrupted);
}

TEST(Tune, SaysWhatIsWrong) {
  const DelayTable delays = modelled("constant:base=1", 4, 5);
  EXPECT_EQ(tune(delays, quick()).error().message,
            "5 recorded rounds are too few for 3 folds; at least 6 rounds");
  TuneOptions options = quick();
  options.folds = 2;
  options.schemes = {"uncodet"};
  EXPECT_EQ(tune(delays, options).error().message,
            "unknown scheme 'uncodet'; did you mean 'uncoded'?");
}

}  // namespace
}  // namespace paceline
