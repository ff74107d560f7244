// What coding costs a worker: one coded message over s+1 chunks against one plain gradient over the
// same samples. Both are timed in turn, in one loop, so that a noisy machine hits both alike; the
// counters are medians.
//
//     plain_ms, coded_ms   medians;   ratio   median of the pairs' ratios: 1 is free, 1.05 our goal
//     passes               weighted sums that one message takes: 1, or 2 for complex weights
#include "message_benchmark.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "paceline/chunks.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/training.hpp"
#ifdef PACELINE_WITH_TORCH
#include "paceline/torch_models.hpp"
#endif

namespace paceline {
namespace {

constexpr int kWorkers = 16;
constexpr int kBatch = 1024;

const DataSet& mnist_like() {
  static const DataSet data = [] {
    DataSet images = make_synthetic_classes(kBatch, 28 * 28, 10, 1);
    images.height = 28;
    images.width = 28;
    return images;
  }();
  return data;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Processor seconds: a gradient is computed by one thread, and other programs' time is not ours.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void BM_Message(benchmark::State& state,
                const std::string& model_name,
                const std::string& code_name) {
  const int stragglers = static_cast<int>(state.range(0));
  const auto code =
      make_code({.name = code_name, .workers = kWorkers, .stragglers = stragglers, .seed = 1});
  const auto model = make_training_model(model_name, mnist_like());
  if (!code || !model) {
    state.SkipWithError((!code ? code.error() : model.error()).message.c_str());
    return;
  }
  const std::vector<float> parameters = (*model)->initial_parameters(1);
  std::vector<int> batch(kBatch);
  std::iota(batch.begin(), batch.end(), 0);
  const std::vector<int> borders = chunk_borders(kBatch, code->chunk_size);
  const Row& row = code->rows[0];

  // The same samples through the same call, all with weight 1: what an uncoded worker would do.
  std::vector<Term> plain_terms;
  for (const Term& term : row.terms()) {
    const bool seen = std::any_of(plain_terms.begin(), plain_terms.end(), [&](const Term& other) {
      return other.chunk == term.chunk;
    });
    if (!seen) plain_terms.push_back({.chunk = term.chunk, .count = term.count});
  }
  const Row plain_row(plain_terms);

  MadeMessage plain;
  MadeMessage coded;
  const auto make_plain = [&] {
    make_message(**model, plain_row, {}, parameters, batch, borders, kBatch, {}, plain);
  };
  const auto make_coded = [&] {
    make_message(**model, row, code->shape, parameters, batch, borders, kBatch, {}, coded);
  };
  make_plain();
  make_coded();
  std::vector<double> plain_times;
  std::vector<double> coded_times;
  std::vector<double> ratios;
  for (auto _ : state) {
    const bool plain_first = plain_times.size() % 2 == 0;
    double plain_time = plain_first ? seconds(make_plain) : 0;
    const double coded_time = seconds(make_coded);
    if (!plain_first) plain_time = seconds(make_plain);
    plain_times.push_back(plain_time);
    coded_times.push_back(coded_time);
    ratios.push_back(coded_time / plain_time);
    state.SetIterationTime(coded_time);
  }
  state.counters["plain_ms"] = 1e3 * median(plain_times);
  state.counters["coded_ms"] = 1e3 * median(coded_times);
  state.counters["ratio"] = median(ratios);
  state.counters["passes"] = code->backward_passes;
  state.counters["samples"] = coded.samples;
}

}  // namespace

void bench::register_message_benchmarks() {
#ifdef PACELINE_WITH_TORCH
  register_torch_models().value();
#endif
  for (const std::string& model : training_model_names()) {
    for (const std::string code : {"repetition", "cyclic", "mds"}) {
      benchmark::RegisterBenchmark(
          ("BM_Message/" + model + "/" + code).c_str(),
          [model, code](benchmark::State& state) { BM_Message(state, model, code); })
          ->ArgName("s")
          ->Arg(3)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace paceline
