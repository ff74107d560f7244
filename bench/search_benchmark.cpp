// The published parameter search: 19,712 simulations of 20 to 30 rounds, 256 workers.
#include <benchmark/benchmark.h>

#include "paceline/published_search.hpp"
#include "recorded_delays.hpp"

namespace paceline {
namespace {

void BM_PublishedSearch(benchmark::State& state) {
  const DelayProfile profile = bench::recorded_profile(256, 30);
  double simulations = 0;
  for (auto _ : state) {
    const auto search = published_search(profile, {.replay = {.slope = 1.12175331}});
    if (!search) return state.SkipWithError(search.error().message.c_str());
    simulations += static_cast<double>(search->candidates.size());
  }
  state.counters["simulations/s"] = benchmark::Counter(simulations, benchmark::Counter::kIsRate);
}

BENCHMARK(BM_PublishedSearch)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace paceline
