// The LibTorch networks: the one file that includes LibTorch's headers, and of these only the
// operators it calls (5 s to compile; torch/torch.h costs 18 s). For g++ only: clang 14 does not
// parse LibTorch 1.13 with libstdc++ 12 as C++20, so analysis leaves this file out.
//
// Parameters and gradient stay where the caller has them. Each layer's weights are a tensor that
// views a piece of the flat parameter array, and its .grad views the same piece of `out`, which
// autograd adds to in place: nothing is copied, and out accumulates. The sample weights are the
// vector that the backward pass starts from, so a coded message costs one backward pass, however
// many chunks it covers.
#include "paceline/torch_models.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string_view>
#include <utility>

#include "paceline/check.hpp"
#include "train/model_registry.hpp"
#include "train/network.hpp"

namespace paceline {
namespace {

constexpr int kEvaluationBatch = 1000;

/// A tensor that views `values`.
at::Tensor view(std::span<float> values, at::IntArrayRef shape) {
  return at::from_blob(values.data(), shape, at::kFloat);
}

/// The same for values that are only read: LibTorch has no tensors of const.
at::Tensor view(std::span<const float> values, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

/// The number of threads of LibTorch's kernels is kept per thread and must be set in each.
void use_one_thread() {
  static thread_local const bool done = (at::init_num_threads(), true);
  static_cast<void>(done);
}

/// Shifts and scales inputs to mean 0 and deviation 1, with which the networks reach a given
/// accuracy in fewer steps. Estimated on the first samples of the training data, so that making a
/// model does not cost a pass over all of them.
class InputScale {
 public:
  explicit InputScale(const DataSet& data) {
    if (data.centred) return;
    const auto count = static_cast<std::size_t>(std::min(data.samples, 1000)) *
                       static_cast<std::size_t>(data.features);
    double sum = 0;
    double squares = 0;
    for (const float x : std::span(data.inputs).first(count)) {
      sum += static_cast<double>(x);
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    const double mean = sum / static_cast<double>(count);
    const double variance = squares / static_cast<double>(count) - mean * mean;
    mean_ = static_cast<float>(mean);
    if (variance > 0) factor_ = static_cast<float>(1 / std::sqrt(variance));
  }

  float apply(float x) const { return (x - mean_) * factor_; }

 private:
  float mean_ = 0;
  float factor_ = 1;  // stays where all inputs are equal, or scaled already
};

class TorchModel final : public TrainingModel {
 public:
  TorchModel(Network network, const DataSet& data, c10::Device device)
      : network_(std::move(network)),
        data_(&data),
        length_(network_.length()),
        scale_(data),
        device_(device),
        in_place_(device == c10::Device(c10::kCPU)) {}

  std::size_t length() const override { return length_; }

  int samples() const override { return data_->samples; }

  std::vector<float> initial_parameters(std::uint64_t seed) const override {
    return network_.initial_parameters(seed);
  }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    PACELINE_CHECK(parameters.size() == length_ && out.size() == length_);
    PACELINE_CHECK(samples.size() == weights.size() && !samples.empty());
    use_one_thread();
    clear_batch();
    for (const int sample : samples) add_to_batch(*data_, sample);
    if (in_place_) {
      std::vector<at::Tensor> tensors = layer_views(parameters);
      const std::vector<at::Tensor> gradients = layer_views(out);
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].set_requires_grad(true);
        tensors[i].mutable_grad() = gradients[i];
      }
      return backward(tensors, weights);
    }
    const auto d = static_cast<std::int64_t>(length_);
    at::Tensor flat = view(parameters, {d}).to(device_);
    flat.set_requires_grad(true);
    const double loss = backward(layer_slices(flat), weights);
    view(out, {d}).add_(flat.grad().to(at::kCPU));
    return loss;
  }

  Evaluation evaluate(std::span<const float> parameters, const DataSet& data) override {
    PACELINE_CHECK(parameters.size() == length_ && data.samples >= 1);
    PACELINE_CHECK(data.features == data_->features && data.classes <= data_->classes);
    use_one_thread();
    const c10::InferenceMode no_gradients;
    const std::vector<at::Tensor> tensors = evaluation_tensors(parameters);
    double loss = 0;
    std::int64_t right = 0;
    for (int begin = 0; begin < data.samples; begin += kEvaluationBatch) {
      clear_batch();
      const int end = std::min(begin + kEvaluationBatch, data.samples);
      for (int sample = begin; sample < end; ++sample) add_to_batch(data, sample);
      const at::Tensor outputs = logits(tensors);
      loss += sample_losses(outputs).sum(at::kDouble).item<double>();
      right += outputs.argmax(1).eq(label_view()).sum().item<std::int64_t>();
    }
    return {.loss = loss / data.samples, .accuracy = static_cast<double>(right) / data.samples};
  }

  std::vector<float> probabilities(std::span<const float> parameters,
                                   const DataSet& data) override {
    PACELINE_CHECK(parameters.size() == length_ && data.features == data_->features);
    use_one_thread();
    const c10::InferenceMode no_gradients;
    const std::vector<at::Tensor> tensors = evaluation_tensors(parameters);
    std::vector<float> all;
    for (int begin = 0; begin < data.samples; begin += kEvaluationBatch) {
      clear_batch();
      const int end = std::min(begin + kEvaluationBatch, data.samples);
      for (int sample = begin; sample < end; ++sample) add_inputs(data.input(sample));
      const at::Tensor part = at::softmax(logits(tensors), 1).to(at::kCPU).contiguous();
      all.insert(all.end(), part.data_ptr<float>(), part.data_ptr<float>() + part.numel());
    }
    return all;
  }

  std::unique_ptr<GradientSource> clone() const override {
    return std::make_unique<TorchModel>(*this);
  }

 private:
  /// Weights and biases where the network computes, without gradients.
  std::vector<at::Tensor> evaluation_tensors(std::span<const float> parameters) const {
    if (in_place_) return layer_views(parameters);
    return layer_slices(view(parameters, {static_cast<std::int64_t>(length_)}).to(device_));
  }

  /// Weights and biases of each layer in turn, as views of a flat array of shape (d).
  template <class Float>
  std::vector<at::Tensor> layer_views(std::span<Float> flat) const {
    std::vector<at::Tensor> views;
    for (const Layer& layer : network_.layers) {
      const std::span<Float> weights = flat.first(layer.weights());
      const std::span<Float> biases = flat.subspan(layer.weights(), layer.biases());
      flat = flat.subspan(layer.weights() + layer.biases());
      views.push_back(
          layer.kernel == 0
              ? view(weights, {layer.outputs, layer.inputs})
              : view(weights, {layer.outputs, layer.inputs, layer.kernel, layer.kernel}));
      views.push_back(view(biases, {layer.outputs}));
    }
    return views;
  }

  /// The same as slices of a flat tensor, through which gradients flow back to it.
  std::vector<at::Tensor> layer_slices(const at::Tensor& flat) const {
    std::vector<at::Tensor> slices;
    std::int64_t at = 0;
    const auto take = [&](std::size_t count, at::IntArrayRef shape) {
      slices.push_back(flat.narrow(0, at, static_cast<std::int64_t>(count)).view(shape));
      at += static_cast<std::int64_t>(count);
    };
    for (const Layer& layer : network_.layers) {
      if (layer.kernel == 0) {
        take(layer.weights(), {layer.outputs, layer.inputs});
      } else {
        take(layer.weights(), {layer.outputs, layer.inputs, layer.kernel, layer.kernel});
      }
      take(layer.biases(), {layer.outputs});
    }
    return slices;
  }

  /// One backward pass over the batch, started from the samples' weights.
  /// @return sum of the losses
  double backward(const std::vector<at::Tensor>& tensors, std::span<const float> weights) {
    const at::Tensor losses = sample_losses(logits(tensors));
    losses.backward(view(weights, {losses.size(0)}).to(device_));
    return losses.sum(at::kDouble).item<double>();
  }

  void clear_batch() {
    inputs_.clear();
    labels_.clear();
  }

  void add_to_batch(const DataSet& data, int sample) {
    add_inputs(data.input(sample));
    labels_.push_back(data.labels[static_cast<std::size_t>(sample)]);
  }

  void add_inputs(std::span<const float> input) {
    inputs_.resize(inputs_.size() + input.size());
    std::transform(input.begin(),
                   input.end(),
                   inputs_.end() - static_cast<std::ptrdiff_t>(input.size()),
                   [this](float x) { return scale_.apply(x); });
  }

  /// Outputs for the batch, shape (b, classes).
  ///
  /// @param tensors  layer_views of the parameters
  at::Tensor logits(const std::vector<at::Tensor>& tensors) {
    const auto count = static_cast<std::int64_t>(inputs_.size()) / data_->features;
    at::Tensor x = network_.layers.front().kernel == 0
                       ? view(std::span(inputs_), {count, data_->features})
                       : view(std::span(inputs_), {count, 1, data_->height, data_->width});
    x = x.to(device_);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      const Layer& layer = network_.layers[i];
      const at::Tensor& weights = tensors[2 * i];
      const at::Tensor& biases = tensors[2 * i + 1];
      x = layer.kernel == 0 ? at::linear(x.flatten(1), weights, biases)
                            : at::conv2d(x, weights, biases);
      // Pooling first gives the same numbers as ReLU first, and leaves ReLU a quarter of the work.
      if (layer.pool) x = at::max_pool2d(x, 2);
      if (i + 1 < network_.layers.size()) x = at::relu(x);
    }
    return x;
  }

  at::Tensor label_view() {
    return at::from_blob(labels_.data(), {static_cast<std::int64_t>(labels_.size())}, at::kLong)
        .to(device_);
  }

  /// Cross-entropy of each sample of the batch, shape (b).
  at::Tensor sample_losses(const at::Tensor& outputs) {
    return at::cross_entropy_loss(outputs, label_view(), {}, at::Reduction::None);
  }

  Network network_;
  const DataSet* data_;
  std::size_t length_;
  InputScale scale_;
  c10::Device device_;
  bool in_place_;                     ///< on the plain CPU: no copies
  std::vector<float> inputs_;         ///< of the batch in work, scaled, shape (b, features)
  std::vector<std::int64_t> labels_;  ///< likewise, shape (b)
};

/// OpenBLAS counts its threads apart from LibTorch, and LibTorch has no call that reaches it. It is
/// looked up by name since another BLAS may stand in for it.
void use_one_blas_thread() {
  using SetThreads = void (*)(int);
  if (auto* set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(1);
  }
}

/// The device of that name, after a trial allocation: a build of LibTorch may know CUDA and the
/// machine have none.
Expected<c10::Device> find_device(const std::string& name) {
  try {
    const c10::Device device(name);
    static_cast<void>(at::empty({1}, at::TensorOptions().device(device)));
    return device;
  } catch (const std::exception& error) {  // LibTorch says why over many lines: the first is enough
    const std::string_view what = error.what();
    return invalid(fmt::format("device '{}' cannot be used here; cpu always can ({})",
                               name,
                               what.substr(0, std::min(what.find(". "), what.find('\n')))));
  }
}

}  // namespace

Expected<void> register_torch_models(const std::string& device) {
  at::set_num_threads(1);
  use_one_blas_thread();
  auto found = find_device(device);
  if (!found) return Unexpected(found.error());
  for (const std::string& name : network_names()) {
    register_training_model(
        name,
        [name, place = *found](const DataSet& data) -> Expected<std::unique_ptr<TrainingModel>> {
          auto network = make_network(name, data);
          if (!network) return Unexpected<Error>(network.error());
          return std::unique_ptr<TrainingModel>(
              std::make_unique<TorchModel>(*std::move(network), data, place));
        });
  }
  return {};
}

}  // namespace paceline
