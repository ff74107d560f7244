// A profile for benchmarks: drawn once, replayed at the price of a table look-up.
#pragma once

#include <memory>
#include <utility>

#include "paceline/delays.hpp"

namespace paceline::bench {

/// `rounds` rounds of a bursty model: 4 % of the workers are slow in a round, some for longer.
inline DelayProfile recorded_profile(int workers, int rounds) {
  const auto model = make_delay_model(
      "bursty:base=0.6,noise=0.05,slow=2.5,bad=0.04,good=0.85,spread=0.05", workers, 1);
  DelayProfile profile{rounds, workers, 0, {}};
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < workers; ++i) {
      profile.seconds.push_back((*model)->delay(Round{r}, WorkerId{i}).base.count());
    }
  }
  return profile;
}

inline std::unique_ptr<DelaySource> recorded_delays(int workers, int rounds) {
  return std::move(*make_replay(recorded_profile(workers, rounds), {.slope = 1.1}));
}

}  // namespace paceline::bench
