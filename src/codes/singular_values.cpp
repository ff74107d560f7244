// In a file of its own, since this decomposition takes the compiler minutes where every access is
// checked (see CMakeLists.txt).
#include "codes/singular_values.hpp"

#include <Eigen/SVD>

namespace paceline {

Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix) {
  return Eigen::BDCSVD<Eigen::MatrixXcd>(matrix).singularValues();
}

}  // namespace paceline
