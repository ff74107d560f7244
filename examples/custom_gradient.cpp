// Trains a model that Paceline does not know: linear regression with the Huber loss, robust against
// wild samples. All it takes is a function that adds up weighted gradients of samples. Four models,
// one per threshold of the loss, learn at the same time on 16 workers that slow down at random.
//
//     custom_gradient        prints each model's slope and intercept; the truth is 2 and -1
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "paceline/local_runtime.hpp"
#include "paceline/random.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/training.hpp"

namespace {

constexpr int kWorkers = 16;
constexpr int kSamples = 4000;
constexpr int kBatch = 320;
constexpr int kJobs = 240;
const std::vector<float> kThresholds{0.1F, 0.3F, 1.0F, 100.0F};  // the last: plain least squares

template <class T>
T must(paceline::Expected<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "custom_gradient: %s\n", result.error().message.c_str());
  std::exit(1);
}

struct Points {
  std::vector<float> x, y;  // every tenth y is far off
};

Points make_points() {
  Points points;
  paceline::RandomStream random(1, "points");
  for (int i = 0; i < kSamples; ++i) {
    const double x = random.normal();
    const double noise = i % 10 == 0 ? 30 : 0.1 * random.normal();
    points.x.push_back(static_cast<float>(x));
    points.y.push_back(static_cast<float>(2 * x - 1 + noise));
  }
  return points;
}

// The Huber loss of residual r: r^2/2 up to the threshold, linear beyond. Its derivative is r,
// clamped. A coded message asks for chunks with different weights in the same call.
paceline::GradientCallback huber_gradient(const Points& points, float threshold) {
  return [&points, threshold](std::span<const float> parameters,
                              std::span<const int> samples,
                              std::span<const float> weights,
                              std::span<float> out) {
    double loss = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto sample = static_cast<std::size_t>(samples[i]);
      const float residual = parameters[0] * points.x[sample] + parameters[1] - points.y[sample];
      const float clamped = std::clamp(residual, -threshold, threshold);
      out[0] += weights[i] * clamped * points.x[sample];
      out[1] += weights[i] * clamped;
      loss += static_cast<double>(clamped * (residual - clamped / 2));
    }
    return loss;
  };
}

}  // namespace

int main() {
  const Points points = make_points();
  const int models = static_cast<int>(kThresholds.size());
  std::vector<std::unique_ptr<paceline::GradientSource>> sources;
  std::vector<std::unique_ptr<paceline::Optimizer>> optimizers;
  for (const float threshold : kThresholds) {
    sources.push_back(
        paceline::make_callback_source(2, kSamples, huber_gradient(points, threshold)));
    optimizers.push_back(must(paceline::make_optimizer("adam:lr=0.1")));
  }

  auto scheme =
      must(paceline::make_scheme("m-sgc:B=1,W=2,lambda=4", {.workers = kWorkers, .jobs = kJobs}));
  const paceline::SchemeInfo info = scheme->info();
  const auto coordinator =
      must(paceline::make_round_coordinator(std::move(scheme),
                                            must(paceline::make_close_policy("conforming:mu=1")),
                                            {.jobs = kJobs, .models = models}));
  paceline::ModelBank bank({.length = 2, .shape = info.shape, .batch_size = kBatch},
                           std::vector<std::vector<float>>(kThresholds.size(), {0.0F, 0.0F}),
                           std::move(optimizers));
  const auto sampler = paceline::make_permutation_sampler(kSamples, kBatch, 7);
  const auto delays =
      must(paceline::make_delay_model("bursty:base=0.002,slow=5,bad=0.05,good=0.4", kWorkers, 3));

  paceline::LocalRunOptions options;
  options.workers = kWorkers;
  options.chunk_size = info.chunk_size;
  options.shape = info.shape;
  options.delays = delays.get();
  const auto result = must(paceline::run_local(*coordinator, bank, sources, *sampler, options));

  std::printf("%d jobs in %d rounds with %s, %.1f stragglers per round\n",
              result.jobs,
              result.rounds,
              info.label().c_str(),
              result.mean_stragglers);
  for (int m = 0; m < models; ++m) {
    const paceline::Parameters learned = bank.parameters(paceline::ModelId{m});
    std::printf("threshold %5.1f: slope %5.2f, intercept %5.2f\n",
                static_cast<double>(kThresholds[static_cast<std::size_t>(m)]),
                static_cast<double>((*learned)[0]),
                static_cast<double>((*learned)[1]));
  }
}
