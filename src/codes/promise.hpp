// From the bare code of an exact construction to the one a user gets: measured, and refused where
// it cannot keep the promise of accuracy.
#pragma once

#include "paceline/gradient_code.hpp"

namespace paceline {

/// Puts the limit on the amplification and the cache around a bare code (see
/// amplification_limit.hpp). With `keep_promise` the code is measured first, and refused if its
/// error would break the promise for messages of that type, naming a code that keeps it; without,
/// there is no limit.
/// @pre 1 <= code.tolerance <= n-2
Expected<GradientCode> promise(GradientCode bare, bool keep_promise, MessageType type);

}  // namespace paceline
