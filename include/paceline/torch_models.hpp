// The LibTorch networks; link paceline::train_torch.
#pragma once

namespace paceline {

/// Makes "cnn", "small-cnn" and "mlp" known to make_training_model. Call it once, before the first
/// of them is made; calling it again changes nothing.
///
/// LibTorch and its BLAS are set to one thread per call, in the whole process: here workers are
/// what runs in parallel, and the inner threads of many workers would fight for the same cores.
void register_torch_models();

}  // namespace paceline
