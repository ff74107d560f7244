// What play() costs per simulated worker and round, building the scheme included: whole rounds at
// once where the scheme allows it, and relay, which is played event by event.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "paceline/play.hpp"
#include "recorded_delays.hpp"

namespace paceline {
namespace {

void play_jobs(benchmark::State& state,
               const std::string& scheme,
               const std::string& close,
               int jobs,
               bool by_events) {
  const auto n = static_cast<int>(state.range(0));
  const auto delays = bench::recorded_delays(n, std::clamp((1 << 20) / n, 10, 100));
  double rounds = 0;
  for (auto _ : state) {
    const auto played =
        play(scheme, *delays, {.jobs = jobs, .close = close, .by_events = by_events});
    if (!played) return state.SkipWithError(played.error().message.c_str());
    rounds += played->result.rounds;
  }
  state.counters["rounds/s"] = benchmark::Counter(rounds, benchmark::Counter::kIsRate);
  state.counters["per_worker_round"] = benchmark::Counter(
      rounds * n, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);  // seconds
}

/// About as many worker-rounds for every n.
int jobs_for(const benchmark::State& state) {
  return static_cast<int>(std::clamp<std::int64_t>((1 << 24) / state.range(0), 200, 4000));
}

void BM_Play(benchmark::State& state, const std::string& scheme, const std::string& close) {
  play_jobs(state, scheme, close, jobs_for(state), false);
}

void BM_PlayByEvents(benchmark::State& state, const std::string& scheme, const std::string& close) {
  play_jobs(state, scheme, close, 500, true);
}

/// 4 % slow workers are about 41 of 1024: s and lambda grow with n, s/n = 1/16.
void BM_PlayTolerant(benchmark::State& state, const std::string& code) {
  const std::string scheme = "gc:s=" + std::to_string(state.range(0) / 16 - 1) + ",code=" + code;
  play_jobs(state, scheme, "eager", jobs_for(state), false);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Unit(benchmark::kMillisecond);
  for (const int n : {64, 256, 1024, 4096, 16384, 65536}) benchmark->Arg(n);
}

void one_size(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Unit(benchmark::kMillisecond)->Arg(256);
}

BENCHMARK_CAPTURE(BM_Play, uncoded, "uncoded", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, repetition, "gc:s=15,code=repetition", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, cyclic, "gc:s=15,code=cyclic", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_PlayTolerant, cyclic, "cyclic")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, sr_sgc, "sr-sgc:B=1,W=2,lambda=30,code=repetition", "eager")
    ->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, m_sgc, "m-sgc:B=1,W=2,lambda=15,code=repetition", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, m_sgc_published, "m-sgc:B=1,W=2,lambda=15", "published:mu=1")
    ->Apply(sizes);

BENCHMARK_CAPTURE(BM_PlayByEvents, repetition, "gc:s=15,code=repetition", "eager")->Apply(one_size);
BENCHMARK_CAPTURE(BM_PlayByEvents, sr_sgc, "sr-sgc:B=1,W=2,lambda=30,code=repetition", "eager")
    ->Apply(one_size);
BENCHMARK_CAPTURE(BM_PlayByEvents, m_sgc, "m-sgc:B=1,W=2,lambda=15,code=repetition", "eager")
    ->Apply(one_size);

/// A fixed setting, 1000 rounds. The event simulator alone, on the same orders and answers, is
/// BM_PlayUncodedByEvents.
void BM_PlayRelay(benchmark::State& state) {
  play_jobs(state, "relay:T=1,r0=2", "eager", static_cast<int>(state.range(1)), false);
}

void BM_PlayUncodedByEvents(benchmark::State& state) {
  play_jobs(state, "uncoded", "published", static_cast<int>(state.range(1)), true);
}

BENCHMARK(BM_PlayRelay)
    ->ArgNames({"n", "jobs"})
    ->Args({256, 1000})
    ->Args({1000, 100})
    ->Args({100'000, 1000})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PlayUncodedByEvents)
    ->ArgNames({"n", "jobs"})
    ->Args({256, 1000})
    ->Args({100'000, 20})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace paceline
