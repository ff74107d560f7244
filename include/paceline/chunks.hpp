// Chunks of any size: a batch of samples is cut at cumulatively rounded borders, so sizes always
// add up exactly.
#pragma once

#include <span>
#include <vector>

namespace paceline {

/// Cuts `samples` into chunks of about size[j] * samples each.
///
/// @param samples  number of samples, >= 0
/// @param sizes    shape (k), fractions >= 0 that sum to 1 (up to 1e-9)
/// @return shape (k+1): chunk j holds samples border[j] ... border[j+1]-1; border[0] = 0, border[k]
/// = samples.
///         Empty chunks are legal.
std::vector<int> chunk_borders(int samples, std::span<const double> sizes);

}  // namespace paceline
