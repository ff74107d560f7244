// G of a code as numbers, whatever parts its terms are in.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <complex>

#include "paceline/gradient_code.hpp"

namespace paceline {

using SparseComplexMatrix = Eigen::SparseMatrix<std::complex<double>>;  ///< by columns

/// Shape (n, k m), where a gradient has m blocks, chunk by chunk; m = 1 but for short messages. A
/// code on 2m parts has complex weights, on block u's half 2u into segment 0 the real part, into
/// segment 1 the imaginary one.
SparseComplexMatrix complex_matrix(const GradientCode& code);

}  // namespace paceline
