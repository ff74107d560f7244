// Models, optimizers and samplers for training runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/data_set.hpp"
#include "paceline/expected.hpp"
#include "paceline/gradient_source.hpp"
#include "paceline/message_maker.hpp"

namespace paceline {

/// "sgd:lr=0.1,momentum=0.9" or "adam:lr=0.001" (beta1 0.9, beta2 0.999, eps 1e-8). State is
/// float64-free: as PyTorch.
Expected<std::unique_ptr<Optimizer>> make_optimizer(std::string_view text);

/// A model on a data set: gradients for training, and evaluation.
class TrainingModel : public GradientSource {
 public:
  virtual std::vector<float> initial_parameters(std::uint64_t seed) const = 0;

  struct Evaluation {
    double loss = 0;      ///< mean
    double accuracy = 0;  ///< share of samples classified right
  };

  virtual Evaluation evaluate(std::span<const float> parameters, const DataSet& data) = 0;

  /// What the model takes each class for, as a probability. `data` needs no labels.
  /// @return shape (samples, classes)
  virtual std::vector<float> probabilities(std::span<const float> parameters,
                                           const DataSet& data) = 0;
};

/// Share of samples whose label is the most probable class; of equally probable ones the first.
/// @param probabilities  shape (samples, classes)
double accuracy_of(std::span<const float> probabilities, const DataSet& data);

/// What an ensemble predicts: the mean of its models' probabilities.
class Ensemble {
 public:
  /// @param probabilities  of one model, shape (samples, classes), the same for all
  void add(std::vector<float> probabilities);

  /// @pre at least one was added
  std::vector<float> mean() const;

 private:
  std::vector<float> sum_;
  int models_ = 0;
};

/// Built-in models without LibTorch: "softmax" (softmax regression, d = (features + 1) * classes).
/// With LibTorch (torch_models.hpp registers them): "cnn" (the papers' CNN), "small-cnn", "mlp".
/// @param data  must outlive the model and its clones
Expected<std::unique_ptr<TrainingModel>> make_training_model(const std::string& name,
                                                             const DataSet& data);

std::vector<std::string> training_model_names();

/// Batches from seeded permutations of the data set, one permutation per model and epoch, which
/// every worker can recompute: update v of model m takes positions v*b ... of the sequence of m's
/// permutations.
std::unique_ptr<BatchSampler> make_permutation_sampler(int samples,
                                                       int batch_size,
                                                       std::uint64_t seed);

/// A user's gradient: out += sum_i weights[i] * gradient of samples[i]; returns the sum of their
/// losses.
using GradientCallback = std::function<double(std::span<const float> parameters,
                                              std::span<const int> samples,
                                              std::span<const float> weights,
                                              std::span<float> out)>;
/// `callback` is copied into every clone and may be called from several threads at once.
std::unique_ptr<GradientSource> make_callback_source(std::size_t length,
                                                     int samples,
                                                     GradientCallback callback);

}  // namespace paceline
