#pragma once

#include <Eigen/Core>

namespace paceline {

/// The singular values of a complex matrix, largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix);

}  // namespace paceline
