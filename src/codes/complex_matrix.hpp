// G of a code as numbers, whatever parts its terms are in.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <complex>

#include "paceline/gradient_code.hpp"

namespace paceline {

using SparseComplexMatrix = Eigen::SparseMatrix<std::complex<double>>;  ///< by columns: chunks

/// Shape (n, k). A code on two parts has complex weights: part 0 into segment 0 is the real part,
/// part 0 into segment 1 the imaginary one.
SparseComplexMatrix complex_matrix(const GradientCode& code);

}  // namespace paceline
