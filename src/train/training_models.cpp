#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/suggest.hpp"
#include "train/model_registry.hpp"
#include "train/network.hpp"
#include "train/softmax_model.hpp"

namespace paceline {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, ModelFactory> factories;
};

Registry& registry() {
  static Registry models{.mutex = {}, .factories = {{"softmax", [](const DataSet& data) {
                                                       return Expected(make_softmax_model(data));
                                                     }}}};
  return models;
}

}  // namespace

void register_training_model(const std::string& name, ModelFactory factory) {
  Registry& models = registry();
  const std::lock_guard lock(models.mutex);
  models.factories[name] = std::move(factory);
}

std::vector<std::string> training_model_names() {
  Registry& models = registry();
  const std::lock_guard lock(models.mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : models.factories) names.push_back(name);
  return names;
}

Expected<std::unique_ptr<TrainingModel>> make_training_model(const std::string& name,
                                                             const DataSet& data) {
  PACELINE_CHECK(data.samples >= 1 && data.features >= 1 && data.classes >= 1);
  ModelFactory factory;
  {
    Registry& models = registry();
    const std::lock_guard lock(models.mutex);
    const auto found = models.factories.find(name);
    if (found != models.factories.end()) factory = found->second;
  }
  if (factory) return factory(data);
  const std::vector<std::string> known = training_model_names();
  const std::vector<std::string> networks = network_names();
  if (std::find(networks.begin(), networks.end(), name) != networks.end()) {
    return invalid(fmt::format("model '{}' needs LibTorch, which this build lacks; it has: {}",
                               name,
                               fmt::join(known, ", ")));
  }
  return invalid(unknown_name("model", name, known));
}

}  // namespace paceline
