// Soft block design: the conditions of a block design hold on average, which is possible for every
// n, k and r. Every chunk goes to a random set of r workers (floor or ceiling where r is no whole
// number); of several draws the one that mixes best is kept.
//
// Source: sakorikar2021soft, section 3 (the sampler is a reconstruction). Differs: the choice among
// draws by the second singular value.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

/// The second singular value of G, by power iterations: from below, and near.
double second_singular_value(const SparseMatrix& G) {
  constexpr int kIterations = 60;
  Eigen::VectorXd first = Eigen::VectorXd::Ones(G.cols());
  Eigen::VectorXd second(G.cols());
  RandomStream random(0, "second singular value");
  for (double& value : second) value = random.normal();
  double value = 0;
  for (int t = 0; t < kIterations; ++t) {
    first = (G.transpose() * (G * first)).normalized();
  }
  for (int t = 0; t < kIterations; ++t) {
    second -= first.dot(second) * first;
    second.normalize();
    second = G.transpose() * (G * second);
    value = std::sqrt(second.norm());
  }
  return value;
}

SharedMatrix draw(int n, int k, double r, RandomStream& random) {
  const int low = static_cast<int>(r);
  std::vector<std::vector<int>> holders;
  for (int j = 0; j < k; ++j) {
    const int size = low + (random.uniform() < r - low ? 1 : 0);
    holders.push_back(random_subset(n, size, random));
  }
  return plain_sums(n, holders);
}

Expected<GradientCode> make_soft_design(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const int k = read_chunks(parameters, n);
  const double r = parameters.number("r", 1, n, std::min(3, n));
  const int draws = parameters.integer("draws", 1, 10'000, 20);

  RandomStream random(context.seed, "soft-design");
  SharedMatrix best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < draws; ++i) {
    SharedMatrix G = draw(n, k, r, random);
    const double value = draws > 1 ? second_singular_value(*G) : 0;
    if (best && value >= least) continue;
    least = value;
    best = std::move(G);
  }
  const DecoderChoice choice = read_decoder(parameters, best, r * k / n);
  return finish_approximate({"soft-design", best, choice.decoder, tolerance});
}

}  // namespace

CodeEntry soft_design_entry() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n", "workers that hold a chunk (3); on average if no whole number"},
      {"chunks", "chunks >= 1", "k (n)"},
      {"draws", "draws >= 1", "keep the one that mixes best of so many (20)"}};
  for (CodeParameter& parameter : decoder_parameters()) own.push_back(std::move(parameter));
  return {{.name = "soft-design",
           .summary = "every chunk on r random workers: a block design on average, for any n and k",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n on average",
           .source = "Sakorikar, Wang, Soft BIBD and Product Gradient Codes (2021)"},
          make_soft_design,
          exists_always};
}

}  // namespace paceline
