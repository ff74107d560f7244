// Random games, to be played by whole rounds and event by event: the results are the same, bit for
// bit.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/play.hpp"
#include "paceline/random.hpp"

namespace paceline::test {

inline int between(RandomStream& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

/// With a setting of its own, or one that finds it.
inline std::string random_relay(RandomStream& random, int n) {
  if (random.below(8) == 0) return "gc:s=auto";
  const int delay = between(random, 0, 4);
  const int holders = between(random, 1, 3) == 1 ? between(random, 1, n) : n;
  std::string text =
      fmt::format("relay:T={},holders={},accept_late={}", delay, holders, random.below(2));
  if (random.below(4) == 0) return text;
  const double x = random.below(3) != 0 ? random.uniform() : (random.below(2) == 0 ? 0 : 1);
  return text + fmt::format(",r0={:.3f},x={:.2f},due={},mid={},split={},speed={},bundle={}",
                            1 + (holders - 1) * random.uniform() / 2,
                            x,
                            between(random, 1, n),
                            between(random, 1, std::min(3, n)),
                            random.below(2),
                            8 * random.below(2),
                            between(random, 1, delay + 1));
}

/// A model, or a short profile whose entries are rounded to hundredths of a second: many answers
/// come at the same time. In every third one a worker now and then never answers.
inline std::unique_ptr<DelaySource> random_delays(RandomStream& random, int n) {
  auto model = make_delay_model(
      "bursty:base=0.2,slope=1,noise=0.05,slow=4,bad=0.15,good=0.5,spread=0.1", n, random.bits());
  EXPECT_TRUE(model);
  const std::uint64_t kind = random.below(3);
  const std::uint64_t odds = std::uint64_t{20} << random.below(5);
  if (kind == 0) return *std::move(model);
  DelayProfile profile{9, n, 0, {}};
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < n; ++i) {
      const double time = (*model)->delay(Round{r}, WorkerId{i}).base.count();
      const bool dies = kind == 2 && random.below(odds) == 0;
      profile.seconds.push_back(dies ? kNever.count() : std::ceil(100 * time) / 100);
    }
  }
  auto replay = make_replay(std::move(profile), {.slope = random.below(2) == 0 ? 0 : 1.1});
  EXPECT_TRUE(replay);
  return *std::move(replay);
}

inline void expect_same(const std::string& scheme, const DelaySource& delays, PlayOptions options) {
  SCOPED_TRACE(
      fmt::format("{} n={} J={} {}", scheme, delays.workers(), options.jobs, options.close));
  const auto rounds = play(scheme, delays, options);
  options.by_events = true;
  const auto events = play(scheme, delays, options);
  ASSERT_EQ(rounds.has_value(), events.has_value())
      << (events ? rounds.error().message : events.error().message);
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

/// Plays `games` games of relay both ways.
inline void expect_relay_the_same(std::uint64_t seed, int games) {
  RandomStream random(seed, "relay");
  int played = 0;
  for (int game = 0; game < games; ++game) {
    const int n = between(random, 1, 14);
    const std::string scheme = random_relay(random, n);
    PlayOptions options;
    options.jobs = between(random, 1, 30);
    options.cancel_stragglers = random.below(3) == 0;
    const auto delays = random_delays(random, n);
    expect_same(scheme, *delays, options);
    played += play(scheme, *delays, options).has_value() ? 1 : 0;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(played, games / 2);
}

}  // namespace paceline::test
