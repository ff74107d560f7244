// What a live run costs beside its gradients. They are nearly free here (a sample per worker, one
// multiply-add per number), so that orders, queues, threads, messages, decoding and, between ranks,
// frames are what is left. Ranks are threads, and queues in memory stand where MPI would be.
//
//     rounds/s    of wall time
//     rounds/cpu  per second of processor time, of all threads together
#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cluster/memory_link.hpp"
#include "paceline/close_policy.hpp"
#include "paceline/cluster.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

constexpr int kLiveJobs = 400;
constexpr int kLiveModels = 4;
constexpr int kSamples = 4096;
constexpr std::size_t kNumbers = 1000;

std::unique_ptr<GradientSource> nearly_free() {
  return make_callback_source(kNumbers,
                              kSamples,
                              [](std::span<const float> parameters,
                                 std::span<const int> /*samples*/,
                                 std::span<const float> weights,
                                 std::span<float> out) {
                                const float weight =
                                    std::accumulate(weights.begin(), weights.end(), 0.0F);
                                for (std::size_t j = 0; j < out.size(); ++j) {
                                  out[j] += weight * parameters[j];
                                }
                                return 0.0;
                              });
}

/// A run of one scheme, made anew each time.
struct LiveRun {
  LiveRun(const std::string& text, int workers, MessageType type) {
    auto policy = make_close_policy("eager").value();
    auto scheme =
        make_scheme(
            text,
            {.workers = workers, .jobs = kLiveJobs, .stops_stragglers = true, .message_type = type})
            .value();
    options.workers = workers;
    options.chunk_size = scheme->info().chunk_size;
    options.shape = scheme->info().shape;
    options.message_type = type;
    coordinator =
        make_round_coordinator(
            std::move(scheme), std::move(policy), {.jobs = kLiveJobs, .models = kLiveModels})
            .value();
    sampler = make_permutation_sampler(kSamples, workers, 1);
    for (int m = 0; m < kLiveModels; ++m) sources.push_back(nearly_free());
  }

  ModelBank make_bank() const {
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    for (int m = 0; m < kLiveModels; ++m) {
      optimizers.push_back(make_optimizer("sgd:lr=0.001").value());
    }
    return {{.length = kNumbers, .shape = options.shape, .batch_size = options.workers},
            std::vector<std::vector<float>>(kLiveModels, std::vector<float>(kNumbers, 1.0F)),
            std::move(optimizers)};
  }

  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<BatchSampler> sampler;
  std::vector<std::unique_ptr<GradientSource>> sources;
  LocalRunOptions options;
};

/// Plays runs, `drive` each, and counts rounds against both clocks.
template <class Drive>
void measure(benchmark::State& state, const std::string& text, MessageType type, Drive drive) {
  double rounds = 0;
  double wall = 0;
  double processor = 0;
  for (auto _ : state) {
    LiveRun run(text, static_cast<int>(state.range(0)), type);
    ModelBank bank = run.make_bank();
    const std::clock_t began = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    const Expected<LocalRunResult> result = drive(run, bank);
    const Seconds took = std::chrono::steady_clock::now() - begin;
    processor += static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    if (!result) return state.SkipWithError(result.error().message.c_str());
    rounds += result->rounds;
    wall += took.count();
    state.SetIterationTime(took.count());
  }
  state.counters["rounds/s"] = rounds / wall;
  state.counters["rounds/cpu"] = rounds / processor;
}

void live_local(benchmark::State& state, const std::string& text, MessageType type) {
  measure(state, text, type, [](LiveRun& run, ModelBank& bank) {
    return run_local(*run.coordinator, bank, run.sources, *run.sampler, run.options);
  });
}

/// Rank 0 is this thread; the others are ended and waited for with the run.
void live_ranks(benchmark::State& state, const std::string& text, MessageType type) {
  constexpr int kHosts = 4;
  measure(state, text, type, [](LiveRun& run, ModelBank& bank) -> Expected<LocalRunResult> {
    test::MemoryHub hub(kHosts + 1);
    ServeOptions serves;
    serves.sources = &run.sources;
    serves.sampler = run.sampler.get();
    std::vector<std::future<Expected<int>>> hosts;
    for (int rank = 1; rank <= kHosts; ++rank) {
      hosts.push_back(std::async(std::launch::async, [&hub, &serves, rank] {
        test::MemoryLink link(hub, rank);
        return serve(link, {"bench"}, serves);
      }));
    }
    test::MemoryLink link(hub, 0);
    ClusterMaster master(link, {});
    if (auto joined = master.admit({"bench"}); !joined) return Unexpected(joined.error());
    auto result = master.run(*run.coordinator, bank, run.sources, *run.sampler, run.options);
    if (auto ended = master.end(0); !ended) return Unexpected(ended.error());
    return result;
  });
}

void BM_LiveLocal(benchmark::State& state) { live_local(state, "uncoded", MessageType::kFloat32); }

void BM_LiveLocalRepetition(benchmark::State& state) {
  live_local(state, "gc:s=3,code=repetition", MessageType::kFloat32);
}

void BM_LiveLocalFloat16(benchmark::State& state) {
  live_local(state, "uncoded", MessageType::kFloat16);
}

void BM_LiveRanks(benchmark::State& state) { live_ranks(state, "uncoded", MessageType::kFloat32); }

void BM_LiveRanksFloat16(benchmark::State& state) {
  live_ranks(state, "uncoded", MessageType::kFloat16);
}

void live_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Arg(16)->Arg(64)->Arg(256)->UseManualTime()->Unit(
      benchmark::kMillisecond);
}

BENCHMARK(BM_LiveLocal)->Apply(live_sizes);
BENCHMARK(BM_LiveLocalRepetition)->Apply(live_sizes);
BENCHMARK(BM_LiveLocalFloat16)->Apply(live_sizes);
BENCHMARK(BM_LiveRanks)->Apply(live_sizes);
BENCHMARK(BM_LiveRanksFloat16)->Apply(live_sizes);

}  // namespace
}  // namespace paceline
