// What decoding costs: adding up messages, beside the memory bandwidth of the same machine, and
// finding the decode vector of a set of answers that was not seen before.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "paceline/gradient_code.hpp"
#include "paceline/kernels.hpp"
#include "paceline/random.hpp"

namespace {

using namespace paceline;

/// a = b + q c, McCalpin's triad: the bandwidth that a sum of messages can hope for.
void BM_StreamTriad(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0));
  std::vector<float> a(d, 0.0F);
  const std::vector<float> b(d, 1.0F);
  const std::vector<float> c(d, 2.0F);
  for (auto _ : state) {
    for (std::size_t j = 0; j < d; ++j) a[j] = b[j] + 3.0F * c[j];
    benchmark::DoNotOptimize(a.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 3 *
                          static_cast<std::int64_t>(sizeof(float)));
}

BENCHMARK(BM_StreamTriad)->ArgName("d")->Arg(10'000)->Arg(50'000'000);

/// out = sum of m weighted messages of d numbers.
void BM_DecodeSum(benchmark::State& state) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const auto d = static_cast<std::size_t>(state.range(1));
  const std::vector<std::vector<float>> messages(m, std::vector<float>(d, 1.0F));
  std::vector<WeightedMessage> sum;
  for (const std::vector<float>& message : messages) sum.push_back({message, 0.5});
  std::vector<float> out(d);
  for (auto _ : state) {
    weighted_sum(sum, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * (state.range(0) + 1) * state.range(1) *
                          static_cast<std::int64_t>(sizeof(float)));
}

BENCHMARK(BM_DecodeSum)
    ->ArgNames({"m", "d"})
    ->Args({16, 10'000})
    ->Args({229, 269'998})  // the published experiment: the network for MNIST, s = 27
    ->Args({16, 1'000'000})
    ->Args({64, 1'000'000})
    ->Args({240, 1'000'000})
    ->Unit(benchmark::kMillisecond);

/// One decode vector for a new set of exactly s stragglers; twice as many sets as the cache holds
/// come round in turn, so none is found there.
void BM_DecodeVector(benchmark::State& state, const std::string& name) {
  constexpr int kSets = 8192;
  const auto n = static_cast<int>(state.range(0));
  const auto s = static_cast<int>(state.range(1));
  const GradientCode code =
      make_code({.name = name, .workers = n, .stragglers = s, .keep_promise = false}).value();
  RandomStream random(1, "stragglers");
  std::vector<WorkerSet> sets;
  while (sets.size() < kSets) {
    const std::vector<int> order = random.permutation(n);
    WorkerSet answered = WorkerSet::all(n);
    for (int i = 0; i < s; ++i) answered.erase(WorkerId{order[static_cast<std::size_t>(i)]});
    sets.push_back(answered);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(code.decode(sets[next]));
    next = (next + 1) % sets.size();
  }
}

void sizes(benchmark::internal::Benchmark* decode_vector) {
  decode_vector->ArgNames({"n", "s"});
  for (const auto& [n, s] : {std::pair{64, 7}, {256, 16}, {256, 27}, {256, 64}}) {
    decode_vector->Args({n, s});
  }
  decode_vector->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(BM_DecodeVector, repetition, "repetition")->Apply(sizes);
BENCHMARK_CAPTURE(BM_DecodeVector, cyclic, "cyclic")->Apply(sizes);
BENCHMARK_CAPTURE(BM_DecodeVector, mds, "mds")->Apply(sizes);

}  // namespace
