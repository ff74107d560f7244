#pragma once

namespace paceline::bench {

/// Registers BM_Message for every model there is, LibTorch's included.
void register_message_benchmarks();

}  // namespace paceline::bench
