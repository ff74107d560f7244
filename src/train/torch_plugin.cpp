#include "train/torch_plugin.hpp"

#include "paceline/torch_models.hpp"

// The plugin is linked with a registry of its own, into which use_device puts the networks.
const paceline::TorchPlugin kPacelineTorchPlugin = {
    paceline::register_torch_models, paceline::make_training_model, PACELINE_TORCH_VERSION};
