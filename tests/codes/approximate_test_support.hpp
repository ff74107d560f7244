// Slow and obvious: the least that a set of answers must leave, and means over all straggler sets.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <string>
#include <vector>

#include "codes/code_test_support.hpp"
#include "codes/sparse_code.hpp"
#include "codes/straggler_sets.hpp"
#include "paceline/code_catalog.hpp"

namespace paceline::testing {

GradientCode code_of(const std::string& text, int workers, std::uint64_t seed = 1);

/// G of a real code, shape (n, k).
Eigen::MatrixXd matrix(const GradientCode& code);

inline SharedMatrix sparse(const Eigen::MatrixXd& G) {
  return std::make_shared<const SparseMatrix>(G.sparseView());
}

/// min |a G_R - 1|^2 / k by a dense orthogonal factorization.
double least_residual(const Eigen::MatrixXd& G, const WorkerSet& answered);

/// |a G - 1|^2 / k read off the terms.
double residual_of(const Eigen::MatrixXd& G, const Combination& combination);

/// Eigenvalues of a symmetric matrix, the least first.
Eigen::VectorXd spectrum(const Eigen::MatrixXd& A);

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
