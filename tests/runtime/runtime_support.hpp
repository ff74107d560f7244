// Small stand-ins for tests of the runtime: a quadratic loss, gradient descent, a scheme of worker
// groups, and delays by a script.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline::test {

inline constexpr std::size_t kLength = 5;
inline constexpr int kSamples = 120;
inline constexpr int kBatch = 24;

/// Sample i has loss |w - x_i|^2 / 2 and gradient w - x_i, where x_i is a fixed point. `hook` sees
/// every call's samples before it computes, and may throw, wait or change nothing.
class QuadraticSource final : public GradientSource {
 public:
  using Hook = std::function<void(std::span<const int> samples, std::span<float> out)>;

  explicit QuadraticSource(Hook hook = {}) : hook_(std::move(hook)) {}

  std::size_t length() const override { return kLength; }

  int samples() const override { return kSamples; }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    double loss = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t j = 0; j < kLength; ++j) {
        const float x = static_cast<float>((samples[i] * 7 + static_cast<int>(j) * 13) % 31) / 31;
        out[j] += weights[i] * (parameters[j] - x);
        loss += 0.5 * (parameters[j] - x) * (parameters[j] - x);
      }
    }
    if (hook_) hook_(samples, out);
    return loss;
  }

  std::unique_ptr<GradientSource> clone() const override {
    return std::make_unique<QuadraticSource>(*this);
  }

 private:
  Hook hook_;
};

class PlainDescent final : public Optimizer {
 public:
  void step(std::span<float> parameters, std::span<const float> gradient) override {
    for (std::size_t j = 0; j < parameters.size(); ++j) parameters[j] -= 0.3F * gradient[j];
  }

  std::unique_ptr<Optimizer> clone() const override { return std::make_unique<PlainDescent>(); }

  bool coordinatewise() const override { return true; }
};

/// Update v of any model takes the samples v*kBatch ... of a circle.
class CircularSampler final : public BatchSampler {
 public:
  int batch_size() const override { return kBatch; }

  void batch(ModelId model, Version update, std::span<int> batch) const override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i] = (model.value * 11 + update.value * kBatch + static_cast<int>(i)) % kSamples;
    }
  }
};

/// Worker i belongs to group i mod `groups`; a group's members send the plain sum of its chunk, and
/// one answer per group decodes. As many groups as workers: uncoded.
class GroupScheme final : public Scheme {
 public:
  GroupScheme(int workers, int groups) {
    info_.name = "groups";
    info_.workers = workers;
    info_.load = 1.0 / groups;
    info_.chunk_size.assign(static_cast<std::size_t>(groups), 1.0 / groups);
    for (int g = 0; g < groups; ++g) rows_.push_back(Row({Term{ChunkId{g}}}));
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    RoundPlan plan;
    for (int i = 0; i < info_.workers; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i) % rows_.size()];
      plan.per_worker.push_back({MiniTask{JobId{round.value}, row, info_.load}});
    }
    return plan;
  }

  bool may_close(Round, const Answers& answers) const override {
    return first_answers(answers).size() == rows_.size();
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    Decoding decoding;
    decoding.job = JobId{round.value};
    for (const int i : first_answers(answers)) {
      decoding.terms.push_back({MessageId{WorkerId{i}, round, 0}});
    }
    return {decoding};
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<GroupScheme>(*this); }

 private:
  std::vector<int> first_answers(const Answers& answers) const {
    std::vector<bool> seen(rows_.size(), false);
    std::vector<int> first;
    for (std::size_t i = 0; i < answers.done.size(); ++i) {
      if (answers.done[i] == 0 || seen[i % rows_.size()]) continue;
      seen[i % rows_.size()] = true;
      first.push_back(static_cast<int>(i));
    }
    return first;
  }

  SchemeInfo info_;
  std::vector<Row> rows_;
};

/// Response times by a function of (round, worker), in milliseconds, whatever the load.
class ScriptedDelays final : public DelaySource {
 public:
  using Script = std::function<double(int round, int worker)>;

  ScriptedDelays(int workers, Script milliseconds)
      : workers_(workers), milliseconds_(std::move(milliseconds)) {}

  int workers() const override { return workers_; }

  Delay delay(Round round, WorkerId worker) const override {
    return {Seconds(milliseconds_(round.value, worker.value) / 1000), Seconds(0)};
  }

 private:
  int workers_;
  Script milliseconds_;
};

/// A run from parts that a test may change before it starts.
struct TrainingRun {
  std::unique_ptr<Scheme> scheme;
  std::string policy = "eager";
  RoundOptions rounds{.jobs = 6, .models = 2};
  LocalRunOptions options;
  QuadraticSource::Hook hook;
  std::function<Expected<LocalRunResult>(Coordinator&,
                                         ModelBank&,
                                         const std::vector<std::unique_ptr<GradientSource>>&,
                                         const BatchSampler&,
                                         const LocalRunOptions&)>
      driver = run_local;
  BankState begin_with;  ///< empty: all models at their start
  std::vector<RoundRecord> records;
  std::vector<std::vector<float>> weights;  ///< of all models, after the run
  std::vector<double> losses;               ///< of the jobs, as they were decoded

  TrainingRun(int workers, int groups)
      : TrainingRun(std::make_unique<GroupScheme>(workers, groups)) {}

  explicit TrainingRun(std::unique_ptr<Scheme> made) : scheme(std::move(made)) {
    options.workers = scheme->info().workers;
    options.chunk_size = scheme->info().chunk_size;
    options.shape = scheme->info().shape;
    options.micro_batch = 4;
    options.compute_slots = 2;
  }

  Expected<LocalRunResult> go() {
    auto coordinator =
        make_round_coordinator(scheme->clone(), make_close_policy(policy).value(), rounds);
    return go(*coordinator.value());
  }

  /// With another coordinator than that of `scheme`; `rounds` says for how many jobs and models.
  Expected<LocalRunResult> go(Coordinator& coordinator) {
    auto bank = make_bank();
    if (!begin_with.models.empty()) bank.restore(begin_with).value();
    std::vector<std::unique_ptr<GradientSource>> sources;
    for (int m = 0; m < rounds.models; ++m) {
      sources.push_back(std::make_unique<QuadraticSource>(hook));
    }
    if (!options.observer) {
      options.observer = [this](const RoundReport& report) {
        records.push_back(*report.record);
        for (const auto& job : report.jobs) losses.push_back(job.loss);
      };
    }
    auto result = driver(coordinator, bank, sources, sampler_, options);
    for (int m = 0; m < rounds.models; ++m) weights.push_back(*bank.parameters(ModelId{m}));
    return result;
  }

  /// What plain gradient descent makes of the models.
  std::vector<std::vector<float>> expected_weights() const {
    std::vector<std::vector<float>> all(static_cast<std::size_t>(rounds.models), initial());
    QuadraticSource source;
    std::vector<int> batch(kBatch);
    const std::vector<float> ones(kBatch, 1.0F);
    for (int job = 0; job < rounds.jobs; ++job) {
      const ModelId model{job % rounds.models};
      sampler_.batch(model, Version{job / rounds.models}, batch);
      std::vector<float> gradient(kLength, 0.0F);
      source.add_gradient(all[model.index()], batch, ones, gradient);
      for (float& value : gradient) value /= static_cast<float>(kBatch);
      PlainDescent().step(all[model.index()], gradient);
    }
    return all;
  }

 private:
  static std::vector<float> initial() { return std::vector<float>(kLength, 1.5F); }

  ModelBank make_bank() const {
    std::vector<std::vector<float>> start(static_cast<std::size_t>(rounds.models), initial());
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    for (int m = 0; m < rounds.models; ++m) optimizers.push_back(std::make_unique<PlainDescent>());
    return ModelBank({.length = kLength, .shape = options.shape, .batch_size = kBatch},
                     std::move(start),
                     std::move(optimizers));
  }

  CircularSampler sampler_;
};

/// Largest difference of two sets of weights.
inline double distance(const std::vector<std::vector<float>>& a,
                       const std::vector<std::vector<float>>& b) {
  double largest = 0;
  for (std::size_t m = 0; m < a.size(); ++m) {
    for (std::size_t j = 0; j < a[m].size(); ++j) {
      largest = std::max(largest, std::abs(double{a[m][j]} - b[m][j]));
    }
  }
  return largest;
}

}  // namespace paceline::test
