#include "codes/null_space.hpp"

#include <Eigen/LU>
#include <Eigen/QR>

namespace paceline {
namespace {

Eigen::VectorXd solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.partialPivLu().solve(b);
}

/// Orthonormal columns that span those of A, which are no more than its rows.
Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& A) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(A);
  return qr.householderQ() * Eigen::MatrixXd::Identity(A.rows(), A.cols());
}

}  // namespace

Eigen::MatrixXd draw_null_space(int workers, int stragglers, RandomStream& random) {
  Eigen::MatrixXd rows(stragglers, workers);
  for (int r = 0; r < stragglers; ++r) {
    for (int i = 0; i < workers; ++i) rows(r, i) = random.normal();
    rows.row(r).array() -= rows.row(r).mean();
  }
  return rows;
}

Eigen::MatrixXd orthonormal_rows(const Eigen::MatrixXd& rows) {
  return orthonormal_columns(rows.transpose()).transpose();
}

Eigen::VectorXd column_on(const Eigen::MatrixXd& null_space, std::span<const int> holders) {
  const Eigen::Index s = null_space.rows();
  Eigen::MatrixXd window(s + 1, s + 1);
  window.row(0).setOnes();
  for (Eigen::Index t = 0; t <= s; ++t) {
    window.col(t).tail(s) = null_space.col(holders[static_cast<std::size_t>(t)]);
  }
  return solve(window, Eigen::VectorXd::Unit(s + 1, 0));
}

std::vector<double> vanishing_weights(const Eigen::MatrixXd& null_space,
                                      const std::vector<int>& stragglers) {
  const Eigen::Index s = null_space.rows();
  const auto missing = static_cast<Eigen::Index>(stragglers.size());
  Eigen::VectorXd a = Eigen::VectorXd::Ones(null_space.cols());
  if (missing > 0) {
    Eigen::MatrixXd lost(s, missing);
    for (Eigen::Index m = 0; m < missing; ++m) {
      lost.col(m) = null_space.col(stragglers[static_cast<std::size_t>(m)]);
    }
    const Eigen::VectorXd minus_ones = Eigen::VectorXd::Constant(missing, -1);
    Eigen::VectorXd beta;  // beta N = -1 on the stragglers
    if (missing == s) {
      beta = solve(lost.transpose(), minus_ones);
    } else {  // the shortest such beta lies in the span of the lost columns
      const Eigen::MatrixXd Q = orthonormal_columns(lost);
      beta = Q * solve(lost.transpose() * Q, minus_ones);
    }
    a += null_space.transpose() * beta;
    for (const int straggler : stragglers) a[straggler] = 0;
  }
  return {a.begin(), a.end()};
}

}  // namespace paceline
