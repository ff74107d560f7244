// A gradient source whose gradients are known: sample i has loss |p - t_i|^2 / 2 and gradient
// p - t_i. It counts its calls.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "paceline/gradient_source.hpp"
#include "paceline/random.hpp"

namespace paceline::test {

class QuadraticSource final : public GradientSource {
 public:
  QuadraticSource(std::size_t length, int samples)
      : length_(length), targets_(length * static_cast<std::size_t>(samples)) {
    RandomStream random(1, "targets");
    for (float& target : targets_) target = static_cast<float>(random.normal());
  }

  std::size_t length() const override { return length_; }

  int samples() const override { return static_cast<int>(targets_.size() / length_); }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    call_sizes.push_back(static_cast<int>(samples.size()));
    double loss = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      loss += sample_loss(parameters, samples[i]);
      for (std::size_t j = 0; j < length_; ++j) {
        out[j] += weights[i] * (parameters[j] - target(samples[i], j));
      }
    }
    return loss;
  }

  double sample_loss(std::span<const float> parameters, int sample) const {
    double loss = 0;
    for (std::size_t j = 0; j < length_; ++j) {
      const double difference = static_cast<double>(parameters[j]) - target(sample, j);
      loss += difference * difference / 2;
    }
    return loss;
  }

  float target(int sample, std::size_t j) const {
    return targets_[static_cast<std::size_t>(sample) * length_ + j];
  }

  std::unique_ptr<GradientSource> clone() const override {
    return std::make_unique<QuadraticSource>(*this);
  }

  std::vector<int> call_sizes;  ///< samples of each call

 private:
  std::size_t length_;
  std::vector<float> targets_;
};

}  // namespace paceline::test
