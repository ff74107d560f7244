// From a bare code to one that is safe to use: the limit on the amplification, and the cache.
#pragma once

#include "paceline/gradient_code.hpp"

namespace paceline {

/// A decode vector whose residual |a G - 1| is above this is wrong, not rounded: it is not used.
inline constexpr double kWorstResidual = 1e-6;

/// Turns a bare code into the one that factories return. A bare code's decode answers for every set
/// with at most `tolerance` stragglers, each time anew; its decodable is not set.
///
/// The result's decode gives nothing for more stragglers than `tolerance`, nor where A(S) > limit
/// or the residual is bad, and remembers what it found; decodable agrees with it. With an infinite
/// limit nothing but the count decides (the combination still tells A and the residual), so that
/// decodable is a count of bits. Refuses a code that would not even decode when all have answered.
Expected<GradientCode> limit_amplification(GradientCode bare, double limit);

}  // namespace paceline
