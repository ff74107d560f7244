// The inside of the cyclic MDS code: the choice of the stride, and the bare code.
#pragma once

#include <complex>
#include <vector>

#include "paceline/gradient_code.hpp"

namespace paceline {

/// c_t = product over l in 0 ... s, l != t, of 1 / (1 - omega^(u (t-l))), the weight of worker
/// j-s+t in column j, where omega = exp(2 pi i / n) and u is the stride; shape (s+1).
std::vector<std::complex<double>> stride_column(int workers, int stragglers, int stride);

/// Lambda = sum_t |c_t|. Whatever straggles, A(S) <= 2^|S| Lambda.
double stride_magnitude(int workers, int stragglers, int stride);

/// The stride coprime to n with the least Lambda; the smallest of those that tie (relative 1e-9).
int best_stride(int workers, int stragglers);

/// The bare code (see amplification_limit.hpp) on the same nodes for any number of chunks, chunk j
/// on the workers last[j]-s, ..., last[j] (modulo n); without a name.
/// @pre gcd(stride, n) = 1, 1 <= s <= n-2
GradientCode bare_node_code(int workers, int stragglers, int stride, std::vector<int> last);

/// The bare code of make_cyclic_mds. @pre gcd(stride, n) = 1,
/// 1 <= s <= n-2
GradientCode bare_cyclic_mds(int workers, int stragglers, int stride);

}  // namespace paceline
