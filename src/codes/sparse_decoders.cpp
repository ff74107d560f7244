#include "codes/sparse_decoders.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <utility>

namespace paceline {
namespace {

using ColumnMatrix = Eigen::SparseMatrix<double>;

/// G_R^T, shape (k, m): the answered rows as columns, in ascending order of the workers.
ColumnMatrix answered_columns(const SparseMatrix& G, const WorkerSet& answered) {
  ColumnMatrix columns(G.cols(), answered.size());
  int entries = 0;
  answered.for_each(
      [&](WorkerId worker) { entries += static_cast<int>(G.row(worker.value).nonZeros()); });
  columns.reserve(entries);
  Eigen::Index c = 0;
  answered.for_each([&](WorkerId worker) {
    columns.startVec(c);
    for (SparseMatrix::InnerIterator entry(G, worker.value); entry; ++entry) {
      columns.insertBack(entry.col(), c) = entry.value();
    }
    ++c;
  });
  columns.finalize();
  return columns;
}

void scatter(const Eigen::VectorXd& values, const WorkerSet& answered, std::vector<double>& a) {
  Eigen::Index c = 0;
  answered.for_each([&](WorkerId worker) { a[worker.index()] = values[c++]; });
}

void set_all(double weight, const WorkerSet& answered, std::vector<double>& a) {
  answered.for_each([&](WorkerId worker) { a[worker.index()] = weight; });
}

/// sigma_1^2 of |A|, from above: for any v > 0 it is at most the largest ratio of |A|^T |A| v to v
/// (Collatz, Wielandt), and a few power iterations make that tight.
double largest_singular_value_squared(const ColumnMatrix& A) {
  constexpr int kIterations = 30;
  const ColumnMatrix magnitude = A.cwiseAbs();
  Eigen::VectorXd v = Eigen::VectorXd::Ones(A.cols());
  double bound = 0;
  for (int t = 0; t < kIterations; ++t) {
    const Eigen::VectorXd next = magnitude.transpose() * (magnitude * v);
    bound = 0;
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      if (v[i] > 0) bound = std::max(bound, next[i] / v[i]);
    }
    if (bound == 0) break;
    v = next / bound;
  }
  return bound;
}

}  // namespace

WeightDecoder fixed_weight(double weight) {
  return
      [weight](const WorkerSet& answered, std::vector<double>& a) { set_all(weight, answered, a); };
}

WeightDecoder one_step(int chunks, double width) {
  return [chunks, width](const WorkerSet& answered, std::vector<double>& a) {
    set_all(chunks / (answered.size() * width), answered, a);
  };
}

WeightDecoder best_common_weight(SharedMatrix G) {
  return [G = std::move(G)](const WorkerSet& answered, std::vector<double>& a) {
    set_all(1, answered, a);
    set_all(best_factor(decoded_weights(*G, a).x), answered, a);
  };
}

WeightDecoder algorithmic(SharedMatrix G, int iterations) {
  return [G = std::move(G), iterations](const WorkerSet& answered, std::vector<double>& a) {
    const ColumnMatrix A = answered_columns(*G, answered);
    const double nu = largest_singular_value_squared(A);
    if (nu == 0) return;
    Eigen::VectorXd u = Eigen::VectorXd::Ones(A.rows());
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(A.cols());
    for (int t = 0; t < iterations; ++t) {
      const Eigen::VectorXd step = A.transpose() * u / nu;
      sum += step;
      u -= A * step;
    }
    scatter(sum, answered, a);
  };
}

WeightDecoder least_squares(SharedMatrix G) {
  return [G = std::move(G)](const WorkerSet& answered, std::vector<double>& a) {
    const ColumnMatrix A = answered_columns(*G, answered);
    if (A.nonZeros() == 0) return;
    // From 0 and without a preconditioner the iterates stay in the row space, so that the limit is
    // the shortest solution although G_R may lack rank.
    Eigen::LeastSquaresConjugateGradient<ColumnMatrix, Eigen::IdentityPreconditioner> solver(A);
    solver.setTolerance(1e-10);
    solver.setMaxIterations(5 * std::min(A.rows(), A.cols()) + 50);
    scatter(solver.solve(Eigen::VectorXd::Ones(A.rows())), answered, a);
  };
}

DecoderChoice read_decoder(ParameterText& parameters,
                           const SharedMatrix& G,
                           double width,
                           const OwnDecoder& own) {
  std::vector<std::string> names = {"optimal", "one-step", "uniform", "algorithmic"};
  if (!own.name.empty()) names.insert(own.usual ? names.begin() : names.end(), own.name);
  const std::string name = parameters.word("decoder", names, names.front());
  const int iterations = parameters.integer("iterations", 1, 1'000'000, 20);
  if (parameters.has("iterations") && name != "algorithmic") {
    parameters.fail("iterations= goes with decoder=algorithmic");
  }
  if (name == "optimal") return {least_squares(G), true};
  const bool own_way = name == own.name;
  if (parameters.has("residual") && !(own_way && own.choice.optimal)) {
    parameters.fail("residual= goes with decoder=optimal: with '" + name +
                    "' one more answer may leave more");
  }
  if (own_way) return own.choice;
  if (name == "one-step") return {one_step(static_cast<int>(G->cols()), width), false};
  if (name == "uniform") return {best_common_weight(G), false};
  return {algorithmic(G, iterations), false};
}

std::vector<CodeParameter> decoder_parameters(const std::string& own, const std::string& meaning) {
  const bool has_own = !own.empty();
  return {{"decoder",
           (has_own ? own + "|" : own) + "optimal|one-step|uniform|algorithmic",
           (has_own ? meaning + "; " : meaning) +
               "least squares; weights k/(m w); the best common weight; Landweber iterations"},
          {"iterations", "iterations >= 1", "of decoder=algorithmic (20)"}};
}

}  // namespace paceline
