// Rounds played at once equal rounds played event by event: random schemes, policies and delays,
// bit for bit.
#include "paceline/play.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

int between(RandomStream& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

std::string random_scheme(RandomStream& random, int n) {
  const std::vector<std::string> codes = {"repetition", "cyclic", "mds"};
  const std::string code = codes[random.below(codes.size())];
  switch (random.below(5)) {
    case 0:
      return "uncoded";
    case 1:
      return fmt::format("gc:groups={}", between(random, 1, n));
    case 2:
      return fmt::format("gc:s={},code={}", between(random, 0, n - 1), code);
    case 3: {
      const int B = between(random, 1, 3);
      const int W = B * between(random, 1, 3) + 1;
      return fmt::format("sr-sgc:B={},W={},lambda={},code={}", B, W, between(random, 0, n), code);
    }
    default: {
      const int W = between(random, 2, 5);
      const int B = between(random, 1, W - 1);
      return fmt::format("m-sgc:B={},W={},lambda={},code={}", B, W, between(random, 0, n), code);
    }
  }
}

std::string random_policy(RandomStream& random) {
  const std::vector<std::string> rules = {"", ",rule=decodable", ",rule=model", ",rule=published"};
  const std::vector<std::string> tolerances = {"0", "0.1", "0.5", "1"};
  const std::string rule = rules[random.below(rules.size())];
  const std::string mu = tolerances[random.below(tolerances.size())];
  switch (random.below(4)) {
    case 0:
      return "published:mu=" + mu + rule;
    case 1:
      return "conforming:mu=" + mu + rule;
    case 2:
      return rule.empty() ? "eager" : "eager:" + rule.substr(1);
    default:
      return fmt::format("quantile:q={:.2f}{}", random.uniform(), rule);
  }
}

/// A model, or a short profile whose entries are rounded to hundredths of a second: many answers
/// come at the same time. Now and then a worker of it dies in a round.
std::unique_ptr<DelaySource> random_delays(RandomStream& random, int n) {
  auto model = make_delay_model(
      "bursty:base=0.2,slope=1,noise=0.05,slow=4,bad=0.15,good=0.5,spread=0.1", n, random.bits());
  EXPECT_TRUE(model);
  const std::uint64_t kind = random.below(3);
  if (kind == 0) return *std::move(model);
  DelayProfile profile{9, n, 0, {}};
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < n; ++i) {
      const double time = (*model)->delay(Round{r}, WorkerId{i}).base.count();
      const bool dies = kind == 2 && random.below(200) == 0;
      profile.seconds.push_back(dies ? kNever.count() : std::ceil(100 * time) / 100);
    }
  }
  auto replay = make_replay(std::move(profile), {.slope = random.below(2) == 0 ? 0 : 1.1});
  EXPECT_TRUE(replay);
  return *std::move(replay);
}

void expect_same(const std::string& scheme, const DelaySource& delays, PlayOptions options) {
  SCOPED_TRACE(
      fmt::format("{} n={} J={} {}", scheme, delays.workers(), options.jobs, options.close));
  const auto rounds = play(scheme, delays, options);
  options.by_events = true;
  const auto events = play(scheme, delays, options);
  ASSERT_EQ(rounds.has_value(), events.has_value());
  if (!events) {
    EXPECT_EQ(rounds.error().message, events.error().message);
    return;
  }
  EXPECT_EQ(rounds->info.label(), events->info.label());
  EXPECT_EQ(rounds->result.total, events->result.total);
  EXPECT_EQ(rounds->result.rounds, events->result.rounds);
  EXPECT_EQ(rounds->result.jobs, events->result.jobs);
  EXPECT_EQ(rounds->result.wait_outs, events->result.wait_outs);
  EXPECT_EQ(rounds->result.mean_stragglers, events->result.mean_stragglers);
}

TEST(Play, RoundsAtOnceEqualEvents) {
  RandomStream random(7, "play");
  int played = 0;
  for (int run = 0; run < 1500; ++run) {
    const int bundle = random.below(3) == 0 ? between(random, 2, 3) : 1;
    const int n = between(random, 1, 12) * bundle;
    std::string scheme = random_scheme(random, n / bundle);
    if (bundle > 1) scheme += (scheme == "uncoded" ? ":" : ",") + fmt::format("bundle={}", bundle);
    PlayOptions options;
    options.jobs = between(random, 1, 25);
    options.close = random_policy(random);
    options.cancel_stragglers = random.below(2) == 0;
    const auto delays = random_delays(random, n);
    expect_same(scheme, *delays, options);
    played += play(scheme, *delays, options).has_value() ? 1 : 0;
    if (HasFailure()) break;
  }
  EXPECT_GT(played, 1000);
}

TEST(Play, RoundsAtOnceEqualEventsWithManyWorkers) {
  const auto delays = make_delay_model(
      "bursty:base=0.5,slope=1,noise=0.05,slow=3,bad=0.05,good=0.8,spread=0.1", 192, 3);
  ASSERT_TRUE(delays);
  for (const std::string scheme : {"uncoded",
                                   "gc:s=7,code=repetition",
                                   "gc:s=9,code=cyclic",
                                   "sr-sgc:B=2,W=5,lambda=24,code=repetition",
                                   "m-sgc:B=2,W=4,lambda=15,code=cyclic",
                                   "m-sgc:B=1,W=2,lambda=15,code=repetition,bundle=2"}) {
    for (const std::string close : {"eager", "published", "conforming:mu=0.5", "quantile:q=0.9"}) {
      expect_same(scheme, **delays, {.jobs = 12, .close = close});
    }
  }
}

}  // namespace
}  // namespace paceline
