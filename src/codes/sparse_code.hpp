// What approximate codes share: G as a sparse matrix, a decoder that gives weights for any set of
// answers, and the bookkeeping around both. What a decoding leaves is always read off G and the
// weights, never taken from a formula.
#pragma once

#include <Eigen/SparseCore>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codes/code_entry.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {

/// G, shape (n, k): row i holds the weights of worker i's chunks.
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using SharedMatrix = std::shared_ptr<const SparseMatrix>;

/// Fills a, shape (n), which comes as zeros and must stay exactly 0 for all who have not answered.
using WeightDecoder = std::function<void(const WorkerSet& answered, std::vector<double>& a)>;

/// Who holds which chunks, all with weight 1. @param holders  shape (k): the workers of each chunk
SharedMatrix plain_sums(int workers, const std::vector<std::vector<int>>& holders);

/// What the weights decode: x = a G, shape (k), and what it is worth.
struct DecodedWeights {
  std::vector<double> x;
  double residual = 0;       ///< |x - 1|^2 / k
  double amplification = 0;  ///< max_j sum_i |a_i| |G_ij|
};

DecodedWeights decoded_weights(const SparseMatrix& G, const std::vector<double>& a);

/// The c for which c x leaves least of 1: sum(x) / sum(x^2); 0 for x = 0.
double best_factor(const std::vector<double>& x);

struct ApproximateCode {
  std::string name;
  SharedMatrix G;
  WeightDecoder decoder;
  Tolerance tolerance;
  /// Answers with which nothing is missing any more, so that waiting is of no use; may be empty.
  std::function<bool(const WorkerSet& answered)> complete = {};
};

/// The code as a value. Where the weights leave more than no answer at all would (residual > 1), as
/// fixed ones can, they are scaled by the factor that leaves least.
GradientCode finish_approximate(ApproximateCode parts);

}  // namespace paceline
