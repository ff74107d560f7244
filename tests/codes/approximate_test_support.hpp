// Slow and obvious: the least that a set of answers must leave, and means over all straggler sets.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <string>
#include <vector>

#include "codes/code_test_support.hpp"
#include "codes/sparse_code.hpp"
#include "codes/straggler_sets.hpp"
#include "paceline/code_catalog.hpp"

namespace paceline::testing {

inline GradientCode code_of(const std::string& text, int workers, std::uint64_t seed = 1) {
  auto code = make_code(text, {.workers = workers, .seed = seed});
  if (!code) {
    ADD_FAILURE() << text << ": " << code.error().message;
    return {};
  }
  return *std::move(code);
}

/// G of a real code, shape (n, k).
inline Eigen::MatrixXd matrix(const GradientCode& code) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(code.workers(), code.chunks);
  for (int i = 0; i < code.workers(); ++i) {
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      G(i, term.chunk.value) += term.weight;
    }
  }
  return G;
}

inline SharedMatrix sparse(const Eigen::MatrixXd& G) {
  return std::make_shared<const SparseMatrix>(G.sparseView());
}

/// min |a G_R - 1|^2 / k by a dense orthogonal factorization.
inline double least_residual(const Eigen::MatrixXd& G, const WorkerSet& answered) {
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

/// |a G - 1|^2 / k read off the terms.
inline double residual_of(const Eigen::MatrixXd& G, const Combination& combination) {
  Eigen::RowVectorXd x = Eigen::RowVectorXd::Zero(G.cols());
  for (const WorkerWeight& term : combination.terms) x += term.weight * G.row(term.worker.value);
  return (x.array() - 1).square().mean();
}

struct MeanAndWorst {
  double mean = 0;
  double worst = 0;
};

/// What all sets of s stragglers leave.
template <class Residual>
MeanAndWorst over_all_sets(int workers, int stragglers, const Residual& residual) {
  MeanAndWorst result;
  const std::vector<WorkerSet> sets = all_survivors(workers, stragglers);
  for (const WorkerSet& answered : sets) {
    const double left = residual(answered);
    result.mean += left / static_cast<double>(sets.size());
    result.worst = std::max(result.worst, left);
  }
  return result;
}

inline MeanAndWorst over_all_sets(const GradientCode& code, int stragglers) {
  return over_all_sets(code.workers(), stragglers, [&](const WorkerSet& answered) {
    return code.decode(answered)->residual;
  });
}

/// The same for a decoder alone, without the code around it.
inline MeanAndWorst over_all_sets(const SharedMatrix& G,
                                  const WeightDecoder& decoder,
                                  int stragglers) {
  const auto n = static_cast<int>(G->rows());
  return over_all_sets(n, stragglers, [&](const WorkerSet& answered) {
    std::vector<double> a(static_cast<std::size_t>(n), 0.0);
    decoder(answered, a);
    return decoded_weights(*G, a).residual;
  });
}

/// s(n-r) / ((n-s) r (n-1)): what one step leaves on average of a code with r holders per chunk.
inline double one_step_mean(int n, int r, int s) {
  return s * (n - r) / ((n - s) * 1.0 * r * (n - 1));
}

}  // namespace paceline::testing
