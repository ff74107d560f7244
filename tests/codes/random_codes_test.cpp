// Random codes, ErasureHead, and codes that only add up. Expected values: spec of approximate
// codes, sections 0.6, 1, 2, 3, 8 and 9; exact ones to the digits listed, sampled ones within four
// standard errors.
#include <cmath>

#include "codes/approximate_test_support.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

using testing::code_of;
using testing::over_all_sets;

struct Estimate {
  double mean = 0;
  double error = 0;  ///< standard error
};

template <class Draw>
Estimate average(int count, const Draw& draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = draw(i);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

double left_by(const SharedMatrix& G, const WeightDecoder& decoder, const WorkerSet& answered) {
  std::vector<double> a(static_cast<std::size_t>(G->rows()), 0.0);
  decoder(answered, a);
  return decoded_weights(*G, a).residual;
}

TEST(ErasureHead, LeavesTheListedResiduals) {
  struct Row {
    int s;
    double mean, worst, one_step;
  };

  for (const Row& row : {Row{1, 0, 0, .024793},
                         {2, 0, 0, .054545},
                         {3, .004545, .25, .090909},
                         {4, .018182, .25, .136364},
                         {5, .045455, .25, .194805},
                         {6, .090909, .5, .272727},
                         {7, .159091, .5, .381818},
                         {8, .254545, .5, .545455}}) {
    const GradientCode code = code_of("erasurehead:r=3,s=" + std::to_string(row.s), 12);
    const auto left = over_all_sets(code, row.s);
    EXPECT_NEAR(left.mean, row.mean, 6e-7) << row.s;
    EXPECT_NEAR(left.worst, row.worst, 1e-12) << row.s;
    const SharedMatrix G = testing::sparse(testing::matrix(code));
    EXPECT_NEAR(over_all_sets(G, one_step(4, 1), row.s).mean, row.one_step, 6e-7);
    // Nobody can do better.
    const auto reference = over_all_sets(G, least_squares(G), row.s);
    EXPECT_NEAR(reference.mean, left.mean, 1e-9);
  }
  for (const auto& [s, mean] : {std::pair{4, .002020}, {5, .010101}, {6, .030303}, {9, .254545}}) {
    const GradientCode code = code_of("erasurehead:r=4,s=" + std::to_string(s), 12);
    EXPECT_NEAR(over_all_sets(code, s).mean, mean, 6e-7) << s;
  }
}

TEST(ErasureHead, EndsARoundWhenAllGroupsHaveAnswered) {
  const GradientCode code = code_of("erasurehead:r=3,s=2", 12);
  EXPECT_TRUE(code.decodable(testing::all_but(12, {0, 1, 3, 4, 6, 7, 9, 10})));
  EXPECT_EQ(code.decode(testing::all_but(12, {0, 1, 3, 4, 6, 7, 9, 10}))->residual, 0);
  EXPECT_FALSE(code.decodable(testing::all_but(12, {0, 1, 2})));
}

TEST(Bernoulli, OneStepLeavesTheFormulaAndLeastSquaresTheListedMeans) {
  struct Row {
    int w, s;
    double optimal, spread;  ///< spread: standard deviation of a draw, at most
  };

  constexpr int n = 100;
  for (const Row& row : {Row{5, 20, .0569, .043}, {5, 50, .1748, .043}, {10, 30, .0406, .03}}) {
    constexpr int kDraws = 120;
    const WorkerSet answered = random_survivors(n, row.s, 1).front();
    std::vector<SharedMatrix> drawn;
    for (int seed = 0; seed < kDraws; ++seed) {
      drawn.push_back(testing::sparse(
          testing::matrix(code_of("bernoulli:covered=no,s=1,r=" + std::to_string(row.w),
                                  n,
                                  static_cast<std::uint64_t>(seed)))));
    }
    const auto draw = [&](int i) { return drawn[static_cast<std::size_t>(i)]; };
    const Estimate one =
        average(kDraws, [&](int i) { return left_by(draw(i), one_step(n, row.w), answered); });
    const double formula = (1 - row.w / 100.0) * 100 / ((n - row.s) * row.w);
    EXPECT_NEAR(one.mean, formula, 4 * one.error);
    const Estimate optimal =
        average(kDraws, [&](int i) { return left_by(draw(i), least_squares(draw(i)), answered); });
    const double listed_error = row.spread / std::sqrt(600.0);
    EXPECT_NEAR(optimal.mean, row.optimal, 4 * std::hypot(optimal.error, listed_error));
    EXPECT_GE(optimal.mean, std::pow(1 - row.w / 100.0, n - row.s)) << "uncovered chunks";
  }
}

TEST(Bernoulli, TheAlgorithmicDecoderFallsTowardsTheLeast) {
  // Spec 0.6: mean of 200 draws, w = 5, s = 20, nu = sigma_1^2.
  constexpr int n = 100;
  constexpr int kDraws = 100;
  const std::vector<std::pair<int, double>> listed = {
      {1, .206}, {2, .170}, {5, .128}, {10, .105}, {20, .088}, {50, .074}};
  const WorkerSet answered = random_survivors(n, 20, 1).front();
  std::vector<double> means(listed.size(), 0.0);
  for (int seed = 0; seed < kDraws; ++seed) {
    const SharedMatrix G = testing::sparse(testing::matrix(
        code_of("bernoulli:covered=no,s=1,r=5", n, static_cast<std::uint64_t>(seed))));
    double before = 1;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const double left = left_by(G, algorithmic(G, listed[i].first), answered);
      ASSERT_LE(left, before + 1e-12);
      before = left;
      means[i] += left / kDraws;
    }
    ASSERT_LE(left_by(G, least_squares(G), answered), before + 1e-12);
    ASSERT_LE(left_by(G, best_common_weight(G), answered),
              left_by(G, one_step(n, 5), answered) + 1e-12);
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    EXPECT_NEAR(means[i], listed[i].second, 0.015) << listed[i].first << " iterations";
  }
}

TEST(Bernoulli, CoversEveryChunkUnlessToldNot) {
  int uncovered = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Eigen::MatrixXd G = testing::matrix(code_of("bernoulli:r=2,s=1", 30, seed));
    EXPECT_GE(G.colwise().sum().minCoeff(), 1);
    const Eigen::MatrixXd open = testing::matrix(code_of("bernoulli:r=2,s=1,covered=no", 30, seed));
    uncovered += open.colwise().sum().minCoeff() < 1 ? 1 : 0;
  }
  EXPECT_GT(uncovered, 0);
}

TEST(RegularizedBernoulli, KeepsNobodyAboveTwiceTheShare) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Eigen::MatrixXd G = testing::matrix(code_of("regularized-bernoulli:r=4,s=1", 50, seed));
    EXPECT_LE(G.rowwise().sum().maxCoeff(), 8);
    EXPECT_GE(G.colwise().sum().minCoeff(), 1);
  }
}

TEST(StochasticBlock, LeavesTheFormulaAndTheListedMeans) {
  // Spec 2: n = 100, block 10, w = 10.
  struct Row {
    double inside;
    int s;
    double one_step, optimal;
  };

  constexpr int n = 100;
  for (const Row& row :
       {Row{.9, 20, .04157, .0013}, {.7, 20, .07260, .0121}, {.3, 50, .17560, .0847}}) {
    constexpr int kDraws = 100;
    double optimal = 0;
    const std::vector<WorkerSet> sets = random_survivors(n, row.s, kDraws);
    const Estimate one = average(kDraws, [&](int i) {
      const GradientCode code = code_of(
          "stochastic-block:covered=no,r=10,block=10,s=99,inside=" + std::to_string(row.inside),
          n,
          static_cast<std::uint64_t>(i));
      const WorkerSet& answered = sets[static_cast<std::size_t>(i)];
      optimal += code.decode(answered)->residual / kDraws;
      return left_by(testing::sparse(testing::matrix(code)), one_step(n, 10), answered);
    });
    EXPECT_NEAR(one.mean, row.one_step, 4 * one.error) << row.inside;
    EXPECT_NEAR(optimal, row.optimal, 0.004) << row.inside;
  }
  // All inside: repetition with hidden groups.
  const Eigen::MatrixXd G =
      testing::matrix(code_of("stochastic-block:r=4,block=4,inside=1,s=1", 12));
  EXPECT_TRUE((G.colwise().sum().array() == 4).all());
  for (int s = 0; s < 4; ++s) {
    EXPECT_LT(over_all_sets(code_of("stochastic-block:r=4,block=4,inside=1,s=3", 12), s).worst,
              1e-12);
  }
}

TEST(Heterogeneous, HasTheListedVarianceAndIsRightOnAverage) {
  const std::vector<double> p = {.05, .05, .1, .1, .1, .2, .2, .2, .3, .4, .5, .6};
  const GradientCode code =
      code_of("heterogeneous:s=11,p=0.05/0.05/0.1/0.1/0.1/0.2/0.2/0.2/0.3/0.4/0.5/0.6", 12);
  const Eigen::MatrixXd G = testing::matrix(code);
  double variance = 0;
  for (int j = 0; j < 12; ++j) {
    double mean = 0;
    for (int i = 0; i < 12; ++i) {
      const double pi = p[static_cast<std::size_t>(i)];
      mean += (1 - pi) * G(i, j);
      variance += pi * (1 - pi) * G(i, j) * G(i, j) / 12;
    }
    EXPECT_NEAR(mean, 1, 1e-12);
    const auto holders = (G.col(j).array() != 0).count();
    EXPECT_TRUE(holders >= 2 && holders <= 4);
  }
  EXPECT_NEAR(variance, 0.0484917, 6e-8);
  // Equal probabilities: p / (r (1-p)), as stochastic codes.
  const Eigen::MatrixXd equal = testing::matrix(code_of("heterogeneous:s=1,p=0.2", 12));
  EXPECT_NEAR(0.2 * 0.8 * equal.array().square().sum() / 12, 0.2 / (3 * 0.8), 1e-12);
}

TEST(Heterogeneous, HasTheListedErrorsForAlignedGradients) {
  const std::vector<double> p = {.05, .05, .1, .1, .1, .2, .2, .2, .3, .4, .5, .6};
  const GradientCode code = code_of(
      "heterogeneous:s=11,objective=aligned,p=0.05/0.05/0.1/0.1/0.1/0.2/0.2/0.2/0.3/0.4/0.5/0.6",
      12);
  const Eigen::MatrixXd G = testing::matrix(code);
  EXPECT_EQ((G.array() != 0).count(), 23);
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(12);
  double chunks = 0;
  double aligned = 0;
  for (int i = 0; i < 12; ++i) {
    const double pi = p[static_cast<std::size_t>(i)];
    mean += (1 - pi) * G.row(i);
    chunks += pi * (1 - pi) * G.row(i).squaredNorm() / 12;
    aligned += pi * (1 - pi) * G.row(i).sum() * G.row(i).sum() / 144;
  }
  EXPECT_LE((mean.array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_NEAR(chunks, 0.0753354, 6e-8);
  EXPECT_NEAR(aligned, 0.0121212, 6e-8);
}

TEST(Stochastic, OrthogonalArraysHaveTheListedErrors) {
  struct Row {
    int n, base;
    double p;
    int k, r;
    double error, norm;
  };

  for (const Row& row : {Row{8, 2, .2, 7, 4, .0625, .25},
                         {9, 3, .2, 4, 3, .083333, .166667},
                         {27, 3, .3, 13, 9, .047619, .238095},
                         {25, 5, .1, 6, 5, .022222, .044444}}) {
    const GradientCode code = code_of(
        "stochastic:s=1,base=" + std::to_string(row.base) + ",p=" + std::to_string(row.p), row.n);
    const Eigen::MatrixXd G = testing::matrix(code);
    ASSERT_EQ(G.cols(), row.k);
    EXPECT_TRUE(((G.array() != 0).colwise().count().array() == row.r).all());
    const Eigen::MatrixXd covariance = row.p * (1 - row.p) * G.transpose() * G;
    EXPECT_NEAR(covariance.trace() / row.k, row.error, 6e-7);
    EXPECT_NEAR(testing::spectrum(covariance).maxCoeff(), row.norm, 6e-7);
  }
}

}  // namespace
}  // namespace paceline
