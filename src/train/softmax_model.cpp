#include "train/softmax_model.hpp"

// For a block of samples X (b, features) with weights w:
//     Z = X W' + bias,   P = softmax of each row of Z,   D = w * (P - labels as unit vectors)
//     gradient of W += D' X,   of the bias += column sums of D
// Blocks are small enough that X is read from cache the second time. log-sum-exp is taken relative
// to the row's maximum, so that no logit overflows.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "paceline/check.hpp"
#include "paceline/random.hpp"
#include "train/initial_parameters.hpp"

namespace paceline {
namespace {

constexpr int kBlockSamples = 64;  // samples; 200 kB of MNIST

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstView = Eigen::Map<const Matrix>;
using View = Eigen::Map<Matrix>;
using RowVector = Eigen::Matrix<float, 1, Eigen::Dynamic>;

class SoftmaxModel final : public TrainingModel {
 public:
  explicit SoftmaxModel(const DataSet& data)
      : data_(&data), block_(kBlockSamples, data.features), outputs_(kBlockSamples, data.classes) {}

  std::size_t length() const override {
    return (static_cast<std::size_t>(data_->features) + 1) *
           static_cast<std::size_t>(data_->classes);
  }

  int samples() const override { return data_->samples; }

  std::vector<float> initial_parameters(std::uint64_t seed) const override {
    std::vector<float> parameters;
    parameters.reserve(length());
    RandomStream stream(seed, "initial-parameters");
    append_uniform(length(), data_->features, stream, parameters);
    return parameters;
  }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    PACELINE_CHECK(parameters.size() == length() && out.size() == length());
    PACELINE_CHECK(samples.size() == weights.size());
    View weight_gradient(out.data(), data_->classes, data_->features);
    Eigen::Map<RowVector> bias_gradient(out.data() + weight_gradient.size(), data_->classes);
    double loss = 0;
    for (std::size_t begin = 0; begin < samples.size(); begin += kBlockSamples) {
      const std::size_t count = std::min<std::size_t>(kBlockSamples, samples.size() - begin);
      const auto rows = static_cast<Eigen::Index>(count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::span<const float> input = data_->input(samples[begin + i]);
        std::copy(input.begin(), input.end(), block_.row(static_cast<Eigen::Index>(i)).data());
      }
      apply_linear(parameters, block_.topRows(rows));
      for (std::size_t i = 0; i < count; ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        const auto label = static_cast<std::size_t>(samples[begin + i]);
        loss += to_loss_gradient(row, data_->labels[label]);
        outputs_.row(row) *= weights[begin + i];
      }
      weight_gradient.noalias() += outputs_.topRows(rows).transpose() * block_.topRows(rows);
      bias_gradient += outputs_.topRows(rows).colwise().sum();
    }
    return loss;
  }

  Evaluation evaluate(std::span<const float> parameters, const DataSet& data) override {
    PACELINE_CHECK(parameters.size() == length() && data.samples >= 1);
    PACELINE_CHECK(data.features == data_->features && data.classes <= data_->classes);
    const ConstView inputs(data.inputs.data(), data.samples, data.features);
    double loss = 0;
    int right = 0;
    for (int begin = 0; begin < data.samples; begin += kBlockSamples) {
      const int count = std::min(kBlockSamples, data.samples - begin);
      apply_linear(parameters, inputs.middleRows(begin, count));
      const std::int32_t* labels = data.labels.data() + begin;
      for (int i = 0; i < count; ++i) {
        const std::int32_t label = labels[i];
        Eigen::Index best = 0;
        outputs_.row(i).maxCoeff(&best);
        if (best == label) ++right;
        loss += to_loss_gradient(i, label);
      }
    }
    return {.loss = loss / data.samples, .accuracy = static_cast<double>(right) / data.samples};
  }

  std::vector<float> probabilities(std::span<const float> parameters,
                                   const DataSet& data) override {
    PACELINE_CHECK(parameters.size() == length() && data.features == data_->features);
    const ConstView inputs(data.inputs.data(), data.samples, data.features);
    std::vector<float> all(static_cast<std::size_t>(data.samples) *
                           static_cast<std::size_t>(data_->classes));
    View out(all.data(), data.samples, data_->classes);
    for (int begin = 0; begin < data.samples; begin += kBlockSamples) {
      const int count = std::min(kBlockSamples, data.samples - begin);
      apply_linear(parameters, inputs.middleRows(begin, count));
      for (int i = 0; i < count; ++i) to_probabilities(i);
      out.middleRows(begin, count) = outputs_.topRows(count);
    }
    return all;
  }

  std::unique_ptr<GradientSource> clone() const override {
    return std::make_unique<SoftmaxModel>(*this);
  }

 private:
  /// outputs = inputs W' + bias
  template <class Inputs>
  void apply_linear(std::span<const float> parameters, const Inputs& inputs) {
    const ConstView weights(parameters.data(), data_->classes, data_->features);
    const Eigen::Map<const RowVector> bias(parameters.data() + weights.size(), data_->classes);
    auto outputs = outputs_.topRows(inputs.rows());
    outputs.noalias() = inputs * weights.transpose();
    outputs.rowwise() += bias;
  }

  /// Turns a row of logits into the gradient of its loss; returns the loss.
  double to_loss_gradient(Eigen::Index row, std::int32_t label) {
    const float label_logit = outputs_(row, label);
    const double log_sum = to_probabilities(row);
    outputs_(row, label) -= 1;
    return log_sum - static_cast<double>(label_logit);
  }

  /// Turns a row of logits into probabilities; returns the logarithm of the sum of their
  /// exponentials.
  double to_probabilities(Eigen::Index row) {
    auto z = outputs_.row(row);
    const float largest = z.maxCoeff();
    z = (z.array() - largest).exp();
    const float total = z.sum();
    z /= total;
    return std::log(static_cast<double>(total)) + static_cast<double>(largest);
  }

  const DataSet* data_;
  Matrix block_;    ///< inputs of a block
  Matrix outputs_;  ///< its logits, then the gradient of the losses by them
};

}  // namespace

std::unique_ptr<TrainingModel> make_softmax_model(const DataSet& data) {
  return std::make_unique<SoftmaxModel>(data);
}

}  // namespace paceline
