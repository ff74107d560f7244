// What decoding costs: adding up messages, beside the memory bandwidth of the same machine, and
// finding the decode vector of a set of answers that was not seen before, beside a dense
// least-squares solve for the same rows.
#include <benchmark/benchmark.h>

#include <Eigen/QR>
#include <algorithm>
#include <string>
#include <vector>

#include "paceline/code_catalog.hpp"
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

/// The look for NaN and infinity that every answer gets.
void BM_AllFinite(benchmark::State& state) {
  const std::vector<float> message(static_cast<std::size_t>(state.range(0)), 1.0F);
  for (auto _ : state) benchmark::DoNotOptimize(all_finite(message));
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(sizeof(float)));
}

BENCHMARK(BM_AllFinite)->ArgName("d")->Arg(1'000)->Arg(10'000)->Arg(1'000'000);

/// Rounding a message to 16 bits, which packs and unpacks it; bytes of the message itself.
void BM_RoundMessage(benchmark::State& state, MessageType type) {
  std::vector<float> message(static_cast<std::size_t>(state.range(0)));
  RandomStream random(1, "message");
  for (float& value : message) value = static_cast<float>(random.normal());
  for (auto _ : state) {
    round_message(type, message);
    benchmark::DoNotOptimize(message.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(sizeof(float)));
}

void BM_RoundMessageFloat16(benchmark::State& state) {
  BM_RoundMessage(state, MessageType::kFloat16);
}

void BM_RoundMessageBfloat16(benchmark::State& state) {
  BM_RoundMessage(state, MessageType::kBfloat16);
}

BENCHMARK(BM_RoundMessageFloat16)->ArgName("d")->Arg(10'000)->Arg(1'000'000);
BENCHMARK(BM_RoundMessageBfloat16)->ArgName("d")->Arg(10'000)->Arg(1'000'000);

std::vector<WorkerSet> random_sets(int workers, int stragglers, int count) {
  RandomStream random(1, "stragglers");
  std::vector<WorkerSet> sets;
  while (static_cast<int>(sets.size()) < count) {
    const std::vector<int> order = random.permutation(workers);
    WorkerSet answered = WorkerSet::all(workers);
    for (int i = 0; i < stragglers; ++i) {
      answered.erase(WorkerId{order[static_cast<std::size_t>(i)]});
    }
    sets.push_back(answered);
  }
  return sets;
}

GradientCode code_of(const std::string& name, int workers, int stragglers) {
  const std::string text = name + (name.find(':') == std::string::npos ? ":s=" : ",s=");
  return make_code(text + std::to_string(stragglers),
                   CodeContext{.workers = workers, .seed = 1, .keep_promise = false})
      .value();
}

/// One decode vector for a new set of exactly s stragglers; twice as many sets as the cache holds
/// come round in turn, so none is found there.
void BM_DecodeVector(benchmark::State& state, const std::string& name) {
  const auto n = static_cast<int>(state.range(0));
  const auto s = static_cast<int>(state.range(1));
  const GradientCode code = code_of(name, n, s);
  const std::vector<WorkerSet> sets = random_sets(n, s, std::clamp(8'000'000 / n, 128, 8192));
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
BENCHMARK_CAPTURE(BM_DecodeVector, mds, "mds")->Apply(sizes)->Args({4096, 16})->Args({4096, 64});

void graph_sizes(benchmark::internal::Benchmark* decode_vector) {
  decode_vector->ArgNames({"n", "s"})->Args({64, 6})->Args({1024, 102})->Args({100'000, 10'000});
  decode_vector->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(BM_DecodeVector, graph, "graph:r=4")->Apply(graph_sizes);

/// The same by a dense factorization of the answered rows, which is what a program without these
/// codes would do: min |a G - 1|. Of a code with real weights.
void BM_DecodeDense(benchmark::State& state, const std::string& name) {
  const auto n = static_cast<int>(state.range(0));
  const auto s = static_cast<int>(state.range(1));
  const GradientCode code = code_of(name, n, s);
  const WorkerSet answered = random_sets(n, s, 1).front();
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(code.chunks, answered.size());
  Eigen::Index c = 0;
  answered.for_each([&](WorkerId worker) {
    for (const Term& term : code.rows[worker.index()].terms()) {
      columns(term.chunk.value, c) += term.weight;
    }
    ++c;
  });
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(code.chunks);
  for (auto _ : state) {
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(columns);  // G_R may lack rank
    benchmark::DoNotOptimize(qr.solve(ones).eval());
  }
}

void dense_sizes(benchmark::internal::Benchmark* dense) {
  dense->ArgNames({"n", "s"})->Args({64, 7})->Args({256, 16})->Args({1024, 102});
  dense->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(BM_DecodeDense, cyclic, "cyclic")->Apply(dense_sizes);
BENCHMARK_CAPTURE(BM_DecodeDense, graph, "graph:r=4")->Apply(dense_sizes);

}  // namespace
