// The cyclic codes for simulations without gradients: who holds which chunks, but no weights.
#pragma once

#include <string>

#include "paceline/gradient_code.hpp"

namespace paceline {

/// A bare code (see amplification_limit.hpp) that cannot decode: a call of its decode is a
/// ContractViolation. @pre 1 <= s <= n-2
GradientCode cyclic_without_weights(std::string name, int workers, int stragglers);

}  // namespace paceline
