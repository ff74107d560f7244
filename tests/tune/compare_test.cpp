#include "paceline/compare.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "paceline/close_policy.hpp"
#include "paceline/play.hpp"
#include "paceline/search_space.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

DelayTable small_table() {
  const auto model =
      make_delay_model("bursty:base=0.5,slope=2,slow=5,bad=0.08,good=0.5,noise=0.05", 8, 3);
  return DelayTable::record(**model, 40);
}

DelayTable measured(const std::string& path, double slope) {
  auto profile = read_delay_profile(path);
  const int rounds = profile->rounds;
  return DelayTable::record(**make_replay(std::move(*profile), {.slope = slope}), rounds);
}

// Relay spec, section 10: seconds for 200 jobs on the resample with seed 0 or 1.
TEST(Compare, MeetsTheExactTotals) {
  PACELINE_NEED_SHARED_FILE(path, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  CompareOptions options;
  options.schemes = {"uncoded", "gc:s=35,code=cyclic"};
  options.most_jobs_per_round = 1;
  options.jobs = 200;
  options.seeds = 2;
  const auto compared = compare(measured(path, 1.12175331), options);
  ASSERT_TRUE(compared) << compared.error().message;
  ASSERT_EQ(compared->schemes.size(), 2U);
  const ComparedScheme& uncoded = compared->schemes[0];
  const ComparedScheme& cyclic = compared->schemes[1];
  EXPECT_NEAR(uncoded.seconds[1], 311.4394, 311 * 1e-5);
  EXPECT_NEAR(cyclic.seconds[0], 179.4096, 179 * 1e-5);
  EXPECT_NEAR(cyclic.seconds[1], 179.9632, 179 * 1e-5);
  EXPECT_NEAR(cyclic.limit_seconds[0], 125.2051, 125 * 1e-5);
  EXPECT_NEAR(cyclic.limit_seconds[1], 125.2613, 125 * 1e-5);
  EXPECT_FALSE(cyclic.tuned);
}

TEST(Compare, KeepsWhatHappenedInTheFirstResample) {
  CompareOptions options;
  options.schemes = {"gc:groups=4", "relay:T=1"};
  options.jobs = 30;
  options.seeds = 3;
  const auto compared = compare(small_table(), options);
  ASSERT_TRUE(compared) << compared.error().message;
  for (const ComparedScheme& scheme : compared->schemes) {
    ASSERT_FALSE(scheme.history.empty());
    EXPECT_DOUBLE_EQ(scheme.history.back().closed.count(), scheme.seconds[0]);
    std::set<int> decoded;
    for (const RoundRecord& round : scheme.history) {
      for (const JobId job : round.decoded) decoded.insert(job.value);
    }
    EXPECT_EQ(decoded.size(), 30U);
  }
}

TEST(Compare, ShowsEveryRuleAndBundlingWhenAskedForAll) {
  CompareOptions options;
  options.jobs = 12;
  options.seeds = 2;
  options.max_delay = 1;
  const auto compared = compare(small_table(), options);
  ASSERT_TRUE(compared) << compared.error().message;
  std::set<std::string> names;
  std::set<int> bundles;
  std::map<std::pair<std::string, bool>, std::set<CloseRule>> rules;
  for (const ComparedScheme& scheme : compared->schemes) {
    names.insert(scheme.info.name);
    bundles.insert(scheme.info.jobs_per_round);
    rules[{scheme.info.name, scheme.info.jobs_per_round > 1}].insert(
        make_close_policy(scheme.candidate.close).value()->rule());
    EXPECT_TRUE(scheme.tuned);
    EXPECT_LE(scheme.info.open_jobs, 2) << scheme.info.label();
    EXPECT_EQ(scheme.seconds.size(), 2U);
  }
  EXPECT_EQ(names,
            (std::set<std::string>{
                "uncoded", "gc", "partial", "partial-gc", "clusters", "sr-sgc", "m-sgc", "relay"}));
  EXPECT_EQ(bundles, (std::set<int>{1, 2}));
  const std::set all = {CloseRule::kDecodable, CloseRule::kModel, CloseRule::kPublished};
  EXPECT_EQ((rules[{"gc", false}]), all);
  EXPECT_EQ((rules[{"gc", true}]), all);
  EXPECT_EQ((rules[{"sr-sgc", false}]), all);
  EXPECT_EQ((rules[{"m-sgc", false}]), all) << "also where two rules play alike";
  EXPECT_GT(compared->trials.size(), 100U);
}

TEST(Compare, ShufflesWorkersButNotTheirNumber) {
  CompareOptions options;
  options.schemes = {"uncoded", "gc:groups=4"};
  options.jobs = 32;  // whole rounds, with any number of jobs in them
  options.seeds = 4;
  const auto plain = compare(small_table(), options);
  options.shuffle_workers = true;
  const auto shuffled = compare(small_table(), options);
  ASSERT_TRUE(plain && shuffled);
  EXPECT_EQ(plain->schemes[0].seconds, shuffled->schemes[0].seconds);  // all are waited for
  EXPECT_NE(plain->schemes[1].seconds, shuffled->schemes[1].seconds);
}

// Every setting of every approximate code, played one by one on the very rounds: what tuning finds
// is among the best of those that leave no more than is tolerated.
TEST(Compare, FindsTheCheapestCodeForATolerableResidual) {
  constexpr double kTolerated = 0.1;
  constexpr int n = 12;
  const auto model =
      make_delay_model("bursty:base=0.5,slope=2,slow=5,bad=0.08,good=0.5,noise=0.05", n, 3);
  const DelayTable table = DelayTable::record(**model, 30);
  PlayOptions once;
  once.jobs = 30;
  double least = kNever.count();
  int tried = 0;
  for (const SearchFamily& family : search_space({.workers = n, .max_residual = kTolerated})) {
    if (family.name != "gc-approximate") continue;
    for (const SearchLine& line : family.lines) {
      for (int value = line.low; value <= line.high; ++value) {
        const auto played = play(line.text(value), table, once);
        ++tried;
        if (!played || played->result.mean_residual > kTolerated) continue;
        least = std::min(least, played->result.total.count());
      }
    }
  }
  EXPECT_GT(tried, 50);
  CompareOptions options;
  options.schemes = {"gc-approximate", "gc"};
  options.jobs = once.jobs;
  options.block = 0;
  options.most_jobs_per_round = 1;
  options.max_residual = kTolerated;
  const auto compared = compare(table, options);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_LE(compared->schemes[0].mean_seconds(), 1.01 * least) << compared->schemes[0].info.label();
  EXPECT_LT(compared->schemes[0].mean_seconds(), compared->schemes[1].mean_seconds())
      << "what may be missing buys time";
  const auto chosen = play(compared->schemes[0].info.label(), table, once);
  EXPECT_LE(chosen->result.mean_residual, kTolerated);
}

TEST(Compare, SaysWhatIsWrong) {
  CompareOptions options;
  options.schemes = {"gcc"};
  EXPECT_EQ(compare(small_table(), options).error().message,
            "unknown scheme 'gcc'; did you mean 'gc'?");
  options.schemes = {"gc:s=20"};
  EXPECT_NE(compare(small_table(), options).error().message.find("0 <= s <= 7"), std::string::npos);
  options.schemes = {"m-sgc:B=2,W=3,lambda=2"};
  options.max_delay = 1;
  EXPECT_EQ(
      compare(small_table(), options).error().message,
      "m-sgc:B=2,W=3,lambda=2 keeps 4 jobs in flight; max-delay=1 allows 2, max-delay=3 would "
      "do");
  options.schemes = {"m-sgc"};
  options.max_delay = 0;
  EXPECT_NE(compare(small_table(), options).error().message.find("m-sgc has no setting"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline
