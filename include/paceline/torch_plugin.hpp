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

}  // namespace paceline
