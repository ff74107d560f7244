#include <dlfcn.h>
#include <fmt/format.h>

#include "paceline/torch_plugin.hpp"
#include "train/model_registry.hpp"
#include "train/network.hpp"
#include "train/torch_plugin.hpp"

namespace paceline {
namespace {

Expected<const TorchPlugin*> load() {
  // Found beside the program, by its run path. Global: LibTorch looks up its BLAS by name.
  void* library = dlopen("libpaceline_torch.so", RTLD_NOW | RTLD_GLOBAL);
  void* plugin = library != nullptr ? dlsym(library, "kPacelineTorchPlugin") : nullptr;
  if (plugin == nullptr)
    return failed(fmt::format("cannot load LibTorch's networks: {}", dlerror()));
  return static_cast<const TorchPlugin*>(plugin);
}

/// Stays loaded: models refer to its code.
Expected<const TorchPlugin*> plugin_on(const std::string& device) {
  static const Expected<const TorchPlugin*> loaded = load();
  if (!loaded) return loaded;
  if (auto ready = (*loaded)->use_device(device); !ready) return Unexpected(ready.error());
  return loaded;
}

}  // namespace

Expected<void> register_torch_plugin(const std::string& device) {
  if (device != "cpu") {
    if (auto ready = plugin_on(device); !ready) return Unexpected(ready.error());
  }
  for (const std::string& name : network_names()) {
    register_training_model(
        name, [name, device](const DataSet& data) -> Expected<std::unique_ptr<TrainingModel>> {
          const auto plugin = plugin_on(device);
          if (!plugin) return Unexpected(plugin.error());
          return (*plugin)->make(name, data);
        });
  }
  return {};
}

}  // namespace paceline
