// SGD with momentum and Adam, step for step and constant for constant as PyTorch computes them:
// state in float32, factors that depend on the step number in float64.

#include <cmath>
#include <limits>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/parameters.hpp"
#include "paceline/suggest.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// v = momentum * v + g;  p -= lr * v
class Sgd final : public Optimizer {
 public:
  Sgd(double lr, double momentum)
      : lr_(static_cast<float>(lr)), momentum_(static_cast<float>(momentum)) {}

  void step(std::span<float> parameters, std::span<const float> gradient) override {
    PACELINE_CHECK(parameters.size() == gradient.size());
    if (momentum_ == 0) {
      for (std::size_t j = 0; j < gradient.size(); ++j) parameters[j] -= lr_ * gradient[j];
      return;
    }
    if (velocity_.empty()) velocity_.assign(gradient.size(), 0);
    PACELINE_CHECK(velocity_.size() == gradient.size());
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      velocity_[j] = momentum_ * velocity_[j] + gradient[j];
      parameters[j] -= lr_ * velocity_[j];
    }
  }

  std::unique_ptr<Optimizer> clone() const override { return std::make_unique<Sgd>(*this); }

  bool coordinatewise() const override { return true; }

  OptimizerState state() const override { return {0, {velocity_}}; }

  bool restore(OptimizerState state) override {
    if (state.arrays.size() != 1) return false;
    velocity_ = std::move(state.arrays[0]);
    return true;
  }

 private:
  float lr_;
  float momentum_;
  std::vector<float> velocity_;
};

/// m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
/// p -= lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)      (t counts from 1)
class Adam final : public Optimizer {
 public:
  explicit Adam(double lr) : lr_(lr) {}

  void step(std::span<float> parameters, std::span<const float> gradient) override {
    PACELINE_CHECK(parameters.size() == gradient.size());
    if (first_.empty()) {
      first_.assign(gradient.size(), 0);
      second_.assign(gradient.size(), 0);
    }
    PACELINE_CHECK(first_.size() == gradient.size());
    ++steps_;
    const auto step_size = static_cast<float>(lr_ / (1 - std::pow(kBeta1, steps_)));
    const auto correction = static_cast<float>(std::sqrt(1 - std::pow(kBeta2, steps_)));
    constexpr auto kKeep1 = static_cast<float>(kBeta1);
    constexpr auto kKeep2 = static_cast<float>(kBeta2);
    constexpr auto kAdd1 = static_cast<float>(1 - kBeta1);
    constexpr auto kAdd2 = static_cast<float>(1 - kBeta2);
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      const float g = gradient[j];
      first_[j] = kKeep1 * first_[j] + kAdd1 * g;
      second_[j] = kKeep2 * second_[j] + kAdd2 * g * g;
      parameters[j] -= step_size * first_[j] / (std::sqrt(second_[j]) / correction + kEpsilon);
    }
  }

  std::unique_ptr<Optimizer> clone() const override { return std::make_unique<Adam>(*this); }

  bool coordinatewise() const override { return true; }

  OptimizerState state() const override { return {steps_, {first_, second_}}; }

  bool restore(OptimizerState state) override {
    if (state.arrays.size() != 2 || state.arrays[0].size() != state.arrays[1].size()) return false;
    steps_ = static_cast<int>(state.steps);
    first_ = std::move(state.arrays[0]);
    second_ = std::move(state.arrays[1]);
    return true;
  }

 private:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr float kEpsilon = 1e-8F;

  double lr_;
  int steps_ = 0;
  std::vector<float> first_;
  std::vector<float> second_;
};

double learning_rate(ParameterText& text) {
  const double lr = text.number("lr", 0, kInfinity);
  if (text.ok() && lr == 0) text.fail("lr=0 would never move; lr > 0 is needed");
  return lr;
}

}  // namespace

Expected<std::unique_ptr<Optimizer>> make_optimizer(std::string_view text) {
  auto parsed = ParameterText::parse(text);
  if (!parsed) return Unexpected<Error>(parsed.error());
  std::unique_ptr<Optimizer> optimizer;
  if (parsed->name() == "sgd") {
    const double lr = learning_rate(*parsed);
    const double momentum = parsed->number("momentum", 0, 1, 0.0);
    if (momentum == 1) parsed->fail("momentum=1 never forgets; 0 <= momentum < 1 is needed");
    optimizer = std::make_unique<Sgd>(lr, momentum);
  } else if (parsed->name() == "adam") {
    optimizer = std::make_unique<Adam>(learning_rate(*parsed));
  } else {
    const std::vector<std::string> known{"sgd", "adam"};
    return invalid(unknown_name("optimizer", parsed->name(), known));
  }
  if (auto ok = parsed->finish(); !ok) return Unexpected<Error>(ok.error());
  return optimizer;
}

}  // namespace paceline
