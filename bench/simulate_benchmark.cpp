// How many rounds per second the event simulator plays without a gradient in memory: a bursty model
// of n workers, one job per round. The baseline of play_benchmark.cpp.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "paceline/close_policy.hpp"
#include "paceline/delays.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"
#include "recorded_delays.hpp"

namespace paceline {
namespace {

constexpr int kJobs = 1000;

void play(benchmark::State& state, const std::string& scheme_text, const std::string& policy_text) {
  const int n = static_cast<int>(state.range(0));
  const auto delays = bench::recorded_delays(n, 100);
  for (auto _ : state) {
    state.PauseTiming();
    auto policy = make_close_policy(policy_text);
    auto scheme = make_scheme(
        scheme_text,
        {.workers = n, .jobs = kJobs, .rule = (*policy)->rule(), .keep_promise = false});
    const int models = (*scheme)->info().open_jobs;
    const auto coordinator = make_round_coordinator(
        std::move(*scheme), std::move(*policy), {.jobs = kJobs, .models = models});
    state.ResumeTiming();
    const auto result = simulate(**coordinator, *delays);
    if (!result) state.SkipWithError(result.error().message.c_str());
  }
  state.counters["rounds/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * kJobs,
                                                  benchmark::Counter::kIsRate);
}

void BM_SimulateUncoded(benchmark::State& state) { play(state, "uncoded", "published:mu=1"); }

void BM_SimulateRepetition(benchmark::State& state) {
  play(state, "gc:s=15,code=repetition", "published:mu=1");
}

void BM_SimulateRepetitionEager(benchmark::State& state) {
  play(state, "gc:s=15,code=repetition", "eager");
}

void BM_SimulateMSgc(benchmark::State& state) {
  play(state, "m-sgc:B=1,W=2,lambda=15,code=repetition", "published:mu=1");
}

BENCHMARK(BM_SimulateUncoded)->ArgName("n")->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SimulateRepetition)->ArgName("n")->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SimulateRepetitionEager)
    ->ArgName("n")
    ->Arg(16)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SimulateMSgc)->ArgName("n")->Arg(256)->Unit(benchmark::kMillisecond);

/// The delay models themselves: one question.
void BM_DelayModel(benchmark::State& state) {
  const auto model =
      make_delay_model("bursty:base=0.6,noise=0.05,slow=2.5,bad=0.04,good=0.85", 256, 1);
  int question = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize((*model)->delay(Round{question >> 8}, WorkerId{question & 255}));
    question = (question + 1) & 0xFFFFF;
  }
}

BENCHMARK(BM_DelayModel);

}  // namespace
}  // namespace paceline
