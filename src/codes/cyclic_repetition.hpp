// The inside of cyclic repetition: a code from a given left null space, and the search for a good
// one.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "paceline/gradient_code.hpp"

namespace paceline {

/// The bare code (see amplification_limit.hpp) whose left null space is spanned by the rows of
/// `null_space`; nothing if some s+1 neighbours are dependent on it.
///
/// @param null_space  N, shape (s, n), 1 <= s <= n-2, rows sum to 0
std::optional<GradientCode> cyclic_repetition_from(const Eigen::MatrixXd& null_space);

/// The bare code of make_cyclic_repetition. @pre legal options, 1 <= s <= n-2
GradientCode bare_cyclic_repetition(const CyclicRepetitionOptions& options);

}  // namespace paceline
