// The LibTorch networks on demand. LibTorch takes most of a second to load, and few commands make
// a network; so the program keeps it in a plugin, libpaceline_torch.so, beside itself.
#pragma once

#include <string>

#include "paceline/expected.hpp"

namespace paceline {

/// Makes the networks of torch_models.hpp known to make_training_model, which loads the plugin when
/// the first of them is made. For another device than "cpu" it is loaded at once, to find out
/// whether the device can be used.
///
/// @return an error that names the device if it cannot be used, or why there is no plugin
Expected<void> register_torch_plugin(const std::string& device = "cpu");

/// The LibTorch that the plugin brings.
struct TorchLibrary {
  std::string version;  ///< "1.13.1": what the plugin was built with
  std::string plugin;   ///< path of the plugin
  std::string library;  ///< path of libtorch_cpu.so
};

/// Loads the plugin. @return why that is not possible, if it is not
Expected<TorchLibrary> find_torch_library();

}  // namespace paceline
