// What play() costs per simulated worker and round, building the scheme included: whole rounds at
// once, and event by event.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

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

/// s grows with n: s+1 = n/16, well above the 4 % of slow workers.
void BM_PlayTolerant(benchmark::State& state, const std::string& code) {
  const std::string scheme = "gc:s=" + std::to_string(state.range(0) / 16 - 1) + ",code=" + code;
  play_jobs(state, scheme, "eager", jobs_for(state), false);
}

void up_to(benchmark::internal::Benchmark* benchmark, int most) {
  benchmark->ArgName("n")->Unit(benchmark::kMillisecond);
  for (int n = 64; n <= most; n *= 4) benchmark->Arg(n);
}

void sizes(benchmark::internal::Benchmark* benchmark) { up_to(benchmark, 65536); }

// Building a code for s stragglers costs n s, and finding who repeats in SR-SGC up to n^2.
void small_sizes(benchmark::internal::Benchmark* benchmark) { up_to(benchmark, 4096); }

void one_size(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Unit(benchmark::kMillisecond)->Arg(256);
}

BENCHMARK_CAPTURE(BM_Play, uncoded, "uncoded", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, repetition, "gc:s=15,code=repetition", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, cyclic, "gc:s=15,code=cyclic", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_PlayTolerant, cyclic, "cyclic")->Apply(small_sizes);
BENCHMARK_CAPTURE(BM_Play, sr_sgc, "sr-sgc:B=1,W=2,lambda=30,code=repetition", "eager")
    ->Apply(small_sizes);
BENCHMARK_CAPTURE(BM_Play, m_sgc, "m-sgc:B=1,W=2,lambda=15,code=repetition", "eager")->Apply(sizes);
BENCHMARK_CAPTURE(BM_Play, m_sgc_published, "m-sgc:B=1,W=2,lambda=15", "published:mu=1")
    ->Apply(sizes);

BENCHMARK_CAPTURE(BM_PlayByEvents, repetition, "gc:s=15,code=repetition", "eager")->Apply(one_size);
BENCHMARK_CAPTURE(BM_PlayByEvents, sr_sgc, "sr-sgc:B=1,W=2,lambda=30,code=repetition", "eager")
    ->Apply(one_size);
BENCHMARK_CAPTURE(BM_PlayByEvents, m_sgc, "m-sgc:B=1,W=2,lambda=15,code=repetition", "eager")
    ->Apply(one_size);

void BM_PlayRelay(benchmark::State& state, const std::string& scheme) {
  const int jobs =
      static_cast<int>(std::clamp<std::int64_t>((1 << 22) / state.range(0), 200, 4000));
  play_jobs(state, scheme, "eager", jobs, false);
}

BENCHMARK_CAPTURE(BM_PlayRelay, fixed, "relay:T=1,r0=2")->Apply(sizes);
BENCHMARK_CAPTURE(BM_PlayRelay, late_answers, "relay:T=1,r0=2,accept_late=1")->Apply(sizes);
BENCHMARK_CAPTURE(BM_PlayRelay, groups, "gc:s=auto")->Apply(sizes);

/// 100,000 workers, 1,000 rounds. The peak of memory is the program's: run it alone.
void BM_PlayMany(benchmark::State& state, const std::string& scheme) {
  play_jobs(state, scheme, "eager", 1000, false);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void many(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Arg(100'000)->Iterations(1)->Unit(benchmark::kSecond);
}

BENCHMARK_CAPTURE(BM_PlayMany, relay, "relay:T=1,r0=2")->Apply(many);
BENCHMARK_CAPTURE(BM_PlayMany, relay_finds_its_setting, "relay:T=1,bundle=1")->Apply(many);

/// Relay's events, and those of as many workers without relay.
void BM_PlayRelayByEvents(benchmark::State& state) {
  play_jobs(state, "relay:T=1,r0=2", "eager", static_cast<int>(state.range(1)), true);
}

void BM_PlayUncodedByEvents(benchmark::State& state) {
  play_jobs(state, "uncoded", "published", static_cast<int>(state.range(1)), true);
}

void many_workers(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"n", "jobs"})->Iterations(1)->Unit(benchmark::kMillisecond);
  benchmark->Args({256, 1000})->Args({1000, 100})->Args({4000, 10});
}

BENCHMARK(BM_PlayRelayByEvents)->Apply(many_workers);
BENCHMARK(BM_PlayUncodedByEvents)->Apply(many_workers)->Args({100'000, 10});

}  // namespace
}  // namespace paceline
