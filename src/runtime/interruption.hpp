// The end of a run on the user's wish. A signal handler can only set a flag, so whoever waits looks
// at it every so often.
#pragma once

#include <chrono>

#include "paceline/expected.hpp"

namespace paceline {

inline constexpr std::chrono::milliseconds kInterruptionCheck{50};

inline Error interruption() { return {ErrorCode::kInterrupted, "the run was interrupted"}; }

}  // namespace paceline
