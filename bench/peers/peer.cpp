#include "peer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "paceline/parameters.hpp"
#include "paceline/torch_models.hpp"

namespace paceline::peer {

Expected<Training> make_training(const std::vector<std::string>& arguments) {
  constexpr std::size_t kArguments = 5;
  if (arguments.size() != kArguments) {
    return invalid("expected DATA MODELS UPDATES BATCH SEED");
  }
  std::vector<int> numbers;
  for (std::size_t i = 1; i < kArguments; ++i) {
    const auto number = to_number(arguments[i]);
    if (!number || *number < 1) return invalid(arguments[i] + " is not allowed; at least 1");
    numbers.push_back(static_cast<int>(*number));
  }
  Training training;
  training.models = numbers[0];
  training.updates = numbers[1];
  training.batch = numbers[2];
  const auto seed = static_cast<std::uint64_t>(numbers[3]);
  auto data = read_mnist(arguments[0]);
  if (!data) return Unexpected(data.error());
  training.data = std::make_unique<SplitData>(std::move(*data));
  if (auto ready = register_torch_models(); !ready) return Unexpected(ready.error());
  auto model = make_training_model("small-cnn", training.data->train);
  if (!model) return Unexpected(model.error());
  training.model = std::move(*model);
  training.sampler = make_permutation_sampler(training.data->train.samples, training.batch, seed);
  for (int m = 0; m < training.models; ++m) {
    training.parameters.push_back(
        training.model->initial_parameters(seed + static_cast<std::uint64_t>(m)));
  }
  return training;
}

std::unique_ptr<Optimizer> make_peer_optimizer() {
  return std::move(make_optimizer("adam:lr=0.01").value());
}

int complain(const std::string& message) {
  fmt::print(stderr, "paceline peer: {}\n", message);
  return 2;
}

}  // namespace paceline::peer
