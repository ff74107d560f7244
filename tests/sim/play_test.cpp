// Rounds played at once equal rounds played event by event: random schemes, policies and delays,
// bit for bit.
#include "paceline/play.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/random.hpp"
#include "sim/random_games.hpp"

namespace paceline {
namespace {

using test::between;
using test::expect_same;
using test::random_delays;

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

std::string random_scheme_whose_answers_decide(RandomStream& random, int n) {
  const std::vector<std::string> codes = {"repetition", "cyclic", "mds"};
  const std::string code = codes[random.below(codes.size())];
  switch (random.below(6)) {
    case 0:
      return fmt::format("partial:r={},m={}", n, between(random, 1, std::min(n, 3)));
    case 4:
      return fmt::format("nested:s={}", between(random, 0, n - 1));
    case 1:
      return fmt::format(
          "partial-gc:s={},own={},code={}", between(random, 0, n - 1), between(random, 1, 4), code);
    case 2: {
      int clusters = between(random, 1, n);
      while (n % clusters != 0) --clusters;
      return fmt::format("clusters:clusters={},s={},candidates={},mu={},code={}",
                         clusters,
                         between(random, 0, n / clusters - 1),
                         between(random, 1, clusters),
                         between(random, 0, 1),
                         code);
    }
    case 3:
      return fmt::format("gc:code=soft-design,r={},draws=1,residual={:.2f}",
                         between(random, 1, n),
                         random.uniform());
    default:
      return fmt::format(
          "gc:code=bernoulli,r={},s={}", between(random, 1, n), between(random, 0, n - 1));
  }
}

TEST(Play, AnswersThatDecideEqualEvents) {
  RandomStream random(9, "answers");
  int played = 0;
  for (int run = 0; run < 400; ++run) {
    const int bundle = random.below(3) == 0 ? between(random, 2, 3) : 1;
    const int n = between(random, 1, 9) * bundle;
    std::string scheme = random_scheme_whose_answers_decide(random, n / bundle);
    if (bundle > 1) scheme += fmt::format(",bundle={}", bundle);
    PlayOptions options;
    options.jobs = between(random, 1, 15);
    options.cancel_stragglers = random.below(2) == 0;
    const auto delays = random_delays(random, n);
    expect_same(scheme, *delays, options);
    const auto at_once = play(scheme, *delays, options);
    options.by_events = true;
    const auto events = play(scheme, *delays, options);
    if (at_once && events) {
      EXPECT_EQ(at_once->result.mean_residual, events->result.mean_residual) << scheme;
      ++played;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(played, 200);
}

TEST(Play, RelayAtOnceEqualsEvents) { test::expect_relay_the_same(8, 150); }

TEST(Play, RoundsAtOnceEqualEventsWithManyWorkers) {
  const auto delays = make_delay_model(
      "bursty:base=0.5,slope=1,noise=0.05,slow=3,bad=0.05,good=0.8,spread=0.1", 192, 3);
  ASSERT_TRUE(delays);
  for (const std::string scheme : {"uncoded",
                                   "gc:s=7,code=repetition",
                                   "gc:s=9,code=cyclic",
                                   "sr-sgc:B=2,W=5,lambda=24,code=repetition",
                                   "m-sgc:B=2,W=4,lambda=15,code=cyclic",
                                   "m-sgc:B=1,W=2,lambda=15,code=repetition,bundle=2",
                                   "relay:T=1,r0=2",
                                   "relay:T=3"}) {
    for (const std::string close : {"eager", "published", "conforming:mu=0.5", "quantile:q=0.9"}) {
      expect_same(scheme, **delays, {.jobs = 12, .close = close});
    }
  }
}

TEST(Play, StoppingPersistentWorkersAtOnceMakesThemStateless) {
  RandomStream random(11, "stopped");
  for (int run = 0; run < 60; ++run) {
    const int n = between(random, 1, 12);
    const auto delays = random_delays(random, n);
    const std::string scheme = fmt::format("relay:T={},r0=1,x={:.2f},speed={}",
                                           random.below(4),
                                           random.uniform(),
                                           8 * random.below(2));
    PlayOptions options{.jobs = 20, .cancel_stragglers = true, .by_events = true};
    const auto stateless = play(scheme, *delays, options);
    options.workers = WorkerKind::kPersistent;
    const auto persistent = play(scheme, *delays, options);
    ASSERT_EQ(stateless.has_value(), persistent.has_value());
    if (!stateless) continue;
    EXPECT_EQ(stateless->result.total, persistent->result.total) << scheme;
    EXPECT_EQ(stateless->result.rounds, persistent->result.rounds) << scheme;
  }
}

TEST(Play, RelayAtOnceEqualsEventsWithMoreThanAThousandWorkers) {
  const auto delays =
      make_delay_model("bursty:base=0.5,slope=1,noise=0.05,slow=3,bad=0.05,good=0.8", 1100, 4);
  ASSERT_TRUE(delays);
  for (const std::string scheme : {"relay:T=1,r0=2,accept_late=1", "relay:T=3,r0=1.5,x=0"}) {
    expect_same(scheme, **delays, {.jobs = 6});
  }
}

}  // namespace
}  // namespace paceline
