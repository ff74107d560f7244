// Soft block design: the conditions of a block design hold on average, which is possible for every
// n, k and r. Every chunk goes to a random set of r workers (floor or ceiling where r is no whole
// number); of several draws the one that mixes best is kept.
//
// Source: sakorikar2021soft, section 3 (the sampler is a reconstruction). Differs: the choice among
// draws by the second singular value.
#include <fmt/format.h>

#include <algorithm>
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

/// A chunk has `high` holders with the probability that makes the mean right, else `low`.
struct TwoSizes {
  int low = 0;
  int high = 0;
  double share = 0;  ///< of high

  double pairs() const {  ///< mean of size (size - 1)
    return (1 - share) * low * (low - 1.0) + share * high * (high - 1.0);
  }
};

TwoSizes two_sizes(int low, int high, double mean) {
  return {low, high, high > low ? (mean - low) / (high - low) : 0};
}

/// How many holders a chunk gets: r on average, and r (r-1) such that two workers share `pairs`
/// chunks' worth. Sizes as close to r as that allows: of two neighbouring spreads, mixed.
struct SizeDistribution {
  TwoSizes narrow;
  TwoSizes wide;
  double share = 0;  ///< of wide

  double pairs() const { return (1 - share) * narrow.pairs() + share * wide.pairs(); }

  int draw(RandomStream& random) const {
    const TwoSizes& sizes = share > 0 && random.uniform() < share ? wide : narrow;
    return sizes.low + (random.uniform() < sizes.share ? sizes.high - sizes.low : 0);
  }
};

/// @pre pairs lies between what the narrowest distribution and the widest, 0 or n, have
SizeDistribution distribution_of(int n, double r, double pairs) {
  const int floor = static_cast<int>(r);
  SizeDistribution sizes;
  sizes.narrow = two_sizes(floor, std::min(n, floor + 1), r);
  for (int spread = 1; spread <= n + 1 && sizes.narrow.pairs() < pairs; ++spread) {
    // nobody without holders unless there is no other way
    const int low = spread > n ? 0 : std::min(floor, std::max(1, floor - spread));
    sizes.wide = two_sizes(low, std::min(n, floor + 1 + spread), r);
    if (sizes.wide.pairs() >= pairs) {
      const double gained = sizes.wide.pairs() - sizes.narrow.pairs();
      sizes.share = gained > 0 ? (pairs - sizes.narrow.pairs()) / gained : 0;
      break;
    }
    sizes.narrow = sizes.wide;
  }
  return sizes;
}

SharedMatrix draw(int n, int k, const SizeDistribution& sizes, RandomStream& random) {
  std::vector<std::vector<int>> holders;
  for (int j = 0; j < k; ++j) holders.push_back(random_subset(n, sizes.draw(random), random));
  return plain_sums(n, holders);
}

/// The common weight that is best on average over all draws: w / (w + h (m-1)).
WeightDecoder average_design_weight(double width, double overlap) {
  return [width, overlap](const WorkerSet& answered, std::vector<double>& a) {
    const double weight = width / (width + overlap * (answered.size() - 1));
    answered.for_each([&](WorkerId worker) { a[worker.index()] = weight; });
  };
}

Expected<GradientCode> make_soft_design(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const int k = read_chunks(parameters, n);
  const double r = parameters.number("r", 1, n, std::min(3, n));
  const int draws = parameters.integer("draws", 1, 10'000, 20);
  const double per_pair = n > 1 ? k / (n * (n - 1.0)) : 0;  // from pairs() to h
  const double least_overlap = per_pair * distribution_of(n, r, 0).pairs();
  const double most_overlap = r * k / n;
  const double h = parameters.number("h", 0, 1e9, least_overlap);
  if (h < least_overlap - 1e-12 || h > most_overlap + 1e-12) {
    return invalid(
        fmt::format("soft-design: h = {:g}: with r = {:g} holders of {} chunks two of {} workers "
                    "share {:.6g} ... {:.6g} on average; the nearest is {:.6g}",
                    h,
                    r,
                    k,
                    n,
                    least_overlap,
                    most_overlap,
                    std::clamp(h, least_overlap, most_overlap)));
  }
  const SizeDistribution sizes = distribution_of(n, r, per_pair > 0 ? h / per_pair : 0);

  RandomStream random(context.seed, "soft-design");
  SharedMatrix best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < draws; ++i) {
    SharedMatrix G = draw(n, k, sizes, random);
    const double value = draws > 1 ? second_singular_value(*G) : 0;
    if (best && value >= least) continue;
    least = value;
    best = std::move(G);
  }
  const double width = r * k / n;
  const DecoderChoice choice = read_decoder(
      parameters, best, width, {"design", {average_design_weight(width, h), false}, false});
  return finish_approximate({"soft-design", best, choice.decoder, tolerance});
}

}  // namespace

CodeEntry soft_design_entry() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n", "workers that hold a chunk (3); on average if no whole number"},
      {"chunks", "chunks >= 1", "k (n)"},
      {"h", "h <= r k / n", "chunks that two workers share on average (the fewest possible)"},
      {"draws", "draws >= 1", "keep the one that mixes best of so many (20)"}};
  for (CodeParameter& parameter :
       decoder_parameters("design", "the weight for the average draw (usual: optimal)")) {
    own.push_back(std::move(parameter));
  }
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
