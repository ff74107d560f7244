#include "codes/approximate_test_support.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace paceline::testing {

GradientCode code_of(const std::string& text, int workers, std::uint64_t seed) {
  auto code = make_code(text, {.workers = workers, .seed = seed});
  if (!code) {
    ADD_FAILURE() << text << ": " << code.error().message;
    return {};
  }
  return *std::move(code);
}

Eigen::MatrixXd matrix(const GradientCode& code) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(code.workers(), code.chunks);
  for (int i = 0; i < code.workers(); ++i) {
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      G(i, term.chunk.value) += term.weight;
    }
  }
  return G;
}

double least_residual(const Eigen::MatrixXd& G, const WorkerSet& answered) {
  Eigen::MatrixXd rows(answered.size(), G.cols());
  Eigen::Index row = 0;
  answered.for_each([&](WorkerId worker) { rows.row(row++) = G.row(worker.value); });
  if (row == 0) return 1;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qr;
  qr.setThreshold(1e-10);
  qr.compute(rows.transpose());
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(G.cols());
  return (rows.transpose() * qr.solve(ones) - ones).squaredNorm() / static_cast<double>(G.cols());
}

double residual_of(const Eigen::MatrixXd& G, const Combination& combination) {
  Eigen::RowVectorXd x = Eigen::RowVectorXd::Zero(G.cols());
  for (const WorkerWeight& term : combination.terms) x += term.weight * G.row(term.worker.value);
  return (x.array() - 1).square().mean();
}

Eigen::VectorXd spectrum(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace paceline::testing
