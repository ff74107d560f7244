// The inside of the real cyclic MDS code.
#pragma once

#include "paceline/gradient_code.hpp"

namespace paceline {

/// The bare code (see amplification_limit.hpp). @pre 1 <= s <= n-2, n - s odd
GradientCode bare_real_mds(int workers, int stragglers);

}  // namespace paceline
