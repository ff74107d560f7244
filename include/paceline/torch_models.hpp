// The LibTorch networks; link paceline::train_torch.
#pragma once

#include <string>

#include "paceline/expected.hpp"

namespace paceline {

/// Makes "cnn", "small-cnn" and "mlp" known to make_training_model. Call it once, before the first
/// of them is made; a later call puts the models made from then on onto another device.
///
/// LibTorch and its BLAS are set to one thread per call, in the whole process: here workers are
/// what runs in parallel, and the inner threads of many workers would fight for the same cores.
///
/// @param device  "cpu", or a device of LibTorch's such as "cuda" or "cuda:1" where this build and
///                machine have one
/// @return an error that names the device if it cannot be used; nothing is registered then
Expected<void> register_torch_models(const std::string& device = "cpu");

}  // namespace paceline
