// A gradient source computes weighted sums of per-sample gradients for one model. Everything that
// is coded comes down to that: a coded message is one weighted sum over the samples of its chunks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paceline/ids.hpp"

namespace paceline {

/// Not safe for use from several threads at once: every computing thread has a clone.
class GradientSource {
 public:
  virtual ~GradientSource() = default;

  /// d, the number of parameters.
  virtual std::size_t length() const = 0;
  /// Number of training samples.
  virtual int samples() const = 0;

  /// out += sum_i weights[i] * gradient of the loss of samples[i], at `parameters`. One backward
  /// pass.
  ///
  /// @param parameters  shape (d)
  /// @param samples     shape (b), 0 <= samples[i] < samples(), b >= 1
  /// @param weights     shape (b)
  /// @param out         shape (d), unit: loss per unit of parameter; added to, must not alias
  /// parameters
  /// @return sum of the samples' losses, unweighted
  virtual double add_gradient(std::span<const float> parameters,
                              std::span<const int> samples,
                              std::span<const float> weights,
                              std::span<float> out) = 0;

  virtual std::unique_ptr<GradientSource> clone() const = 0;

 protected:
  GradientSource() = default;
  GradientSource(const GradientSource&) = default;
  GradientSource& operator=(const GradientSource&) = default;
};

/// What an optimizer remembers between two steps, for a checkpoint.
struct OptimizerState {
  long long steps = 0;
  std::vector<std::vector<float>> arrays;  ///< shape (d) each, or empty before the first step
};

/// Turns a mean gradient into new parameters. One per model; holds its state (momenta).
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// parameters = step(parameters, gradient). Both of shape (d).
  virtual void step(std::span<float> parameters, std::span<const float> gradient) = 0;
  virtual std::unique_ptr<Optimizer> clone() const = 0;

  /// Whether a step changes each parameter by its own gradient and memory alone, so that several
  /// optimizers may do the steps of a slice of the parameters each. A step that looks at all of the
  /// gradient (its norm, say) must not say so.
  virtual bool coordinatewise() const { return false; }

  /// All that later steps depend on. One that remembers nothing need not care.
  virtual OptimizerState state() const { return {}; }

  /// Goes on from a state() of the same kind of optimizer. @return false, and nothing has changed,
  /// if it is one of another kind
  virtual bool restore(OptimizerState state) { return state.steps == 0 && state.arrays.empty(); }

 protected:
  Optimizer() = default;
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;
};

}  // namespace paceline
