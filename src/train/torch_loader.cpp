#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

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
const Expected<const TorchPlugin*>& loaded_plugin() {
  static const Expected<const TorchPlugin*> loaded = load();
  return loaded;
}

/// Notes where the libraries of this process that TorchLibrary names were found.
int note_library(dl_phdr_info* info, std::size_t /*size*/, void* found) {
  TorchLibrary& torch = *static_cast<TorchLibrary*>(found);
  if (std::strstr(info->dlpi_name, "/libpaceline_torch.so") != nullptr) {
    torch.plugin = info->dlpi_name;
  } else if (std::strstr(info->dlpi_name, "/libtorch_cpu.so") != nullptr) {
    torch.library = info->dlpi_name;
  }
  return 0;
}

Expected<const TorchPlugin*> plugin_on(const std::string& device) {
  const Expected<const TorchPlugin*>& loaded = loaded_plugin();
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

Expected<TorchLibrary> find_torch_library() {
  const Expected<const TorchPlugin*>& plugin = loaded_plugin();
  if (!plugin) return Unexpected(plugin.error());
  TorchLibrary torch;
  torch.version = (*plugin)->version;
  dl_iterate_phdr(note_library, &torch);
  return torch;
}

}  // namespace paceline
