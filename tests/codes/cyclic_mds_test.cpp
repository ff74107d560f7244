#include "codes/cyclic_mds.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "codes/code_quality.hpp"
#include "codes/code_test_support.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using testing::all_but;
using testing::kNoLimit;
using Complex = std::complex<double>;

constexpr Complex kI{0, 1};

void expect_near(const std::vector<Complex>& actual, const std::vector<Complex>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i].real(), expected[i].real(), 1e-11) << i;
    EXPECT_NEAR(actual[i].imag(), expected[i].imag(), 1e-11) << i;
  }
}

TEST(CyclicMds, MatchesTheWorkedExamples) {
  const Complex c5 = 0.361803398875 + 0.262865556060 * kI;
  expect_near(stride_column(5, 2, 2), {c5, 0.276393202250, std::conj(c5)});
  const auto five = bare_cyclic_mds(5, 2, 2).decode(all_but(5, {0, 1})).value();
  const Complex a5 = 1.809016994375 + 1.314327780298 * kI;
  expect_near(testing::weights(five, 5), {0, 0, a5, 1.381966011250, std::conj(a5)});
  EXPECT_NEAR(five.amplification, 2.381966011250, 1e-11);

  expect_near(stride_column(8, 3, 3),
              {0.353553390593 * (1.0 - kI),
               0.146446609407 * (1.0 + kI),
               0.146446609407 * (1.0 - kI),
               0.353553390593 * (1.0 + kI)});
  const auto eight = bare_cyclic_mds(8, 3, 3).decode(all_but(8, {0, 1, 2})).value();
  expect_near(testing::weights(eight, 8),
              {0,
               0,
               0,
               1.414213562373 * (1.0 - kI),
               2.0 - 0.828427124746 * kI,
               1.171572875254,
               2.0 + 0.828427124746 * kI,
               1.414213562373 * (1.0 + kI)});
  EXPECT_NEAR(eight.amplification, 2.773374416580, 1e-11);

  const Complex c7 = 0.295504524253 - 0.142307478623 * kI;
  expect_near(stride_column(7, 2, 2), {c7, 0.408990951494, std::conj(c7)});
  const auto seven = bare_cyclic_mds(7, 2, 2).decode(all_but(7, {0, 1})).value();
  const Complex a2 = 2.746979603717 - 1.322875655532 * kI;
  const Complex a3 = 0.376510198141 + 1.649598960703 * kI;
  expect_near(testing::weights(seven, 7),
              {0, 0, a2, a3, 0.753020396283, std::conj(a3), std::conj(a2)});
}

// n, s, the stride and its Lambda, as computed for the specification.
struct Stride {
  int n;
  int s;
  int u;
  double magnitude;
};

constexpr Stride kStrides[] = {
    {4, 1, 1, 1.414},     {4, 2, 1, 1.207},     {5, 1, 2, 1.051},     {5, 2, 2, 1.171},
    {5, 3, 1, 1.231},     {6, 1, 1, 2.000},     {6, 2, 1, 2.155},     {6, 3, 1, 1.732},
    {6, 4, 1, 1.244},     {7, 3, 2, 1.175},     {7, 4, 3, 1.220},     {8, 3, 3, 1.414},
    {8, 5, 3, 1.307},     {9, 2, 2, 1.395},     {9, 5, 4, 1.493},     {10, 4, 3, 1.650},
    {10, 7, 3, 1.466},    {12, 7, 5, 1.577},    {16, 3, 3, 1.373},    {16, 12, 5, 1.253},
    {20, 3, 9, 1.749},    {20, 15, 7, 1.637},   {24, 7, 11, 1.827},   {24, 16, 7, 1.229},
    {32, 5, 5, 1.050},    {32, 16, 15, 1.181},  {48, 8, 5, 1.106},    {48, 31, 17, 1.791},
    {64, 7, 7, 1.329},    {64, 32, 31, 1.180},  {100, 15, 19, 1.168}, {100, 31, 3, 1.459},
    {128, 7, 15, 1.086},  {128, 32, 31, 1.032}, {256, 3, 63, 1.001},  {256, 8, 57, 1.001},
    {256, 15, 15, 1.303}, {256, 16, 15, 1.002}, {256, 31, 31, 1.295}, {256, 32, 31, 1.007}};

TEST(CyclicMds, ChoosesTheStrideOfLeastMagnitude) {
  for (const Stride& row : kStrides) {
    const int u = best_stride(row.n, row.s);
    EXPECT_EQ(std::gcd(u, row.n), 1);
    EXPECT_NEAR(stride_magnitude(row.n, row.s, u), row.magnitude, 1e-3) << row.n << " " << row.s;
    EXPECT_EQ(u, row.u) << row.n << " " << row.s;
  }
}

TEST(CyclicMds, IsMadeOfColumnsThatSumToOneAndVanishAtTheRoots) {
  for (const auto& [n, s] : {std::pair{7, 3}, {12, 5}, {32, 8}, {100, 15}}) {
    const int u = best_stride(n, s);
    const auto c = stride_column(n, s, u);
    for (int t = 0; t <= s; ++t) {
      Complex value = 0;
      for (int v = 0; v <= s; ++v) {
        value += c[static_cast<std::size_t>(v)] * std::polar(1.0, 2 * M_PI * u * t * v / n);
      }
      EXPECT_NEAR(std::abs(value - (t == 0 ? 1.0 : 0.0)), 0, 1e-12) << n << " " << s << " " << t;
    }
    double magnitude = 0;
    for (const Complex entry : c) magnitude += std::abs(entry);
    EXPECT_NEAR(magnitude, stride_magnitude(n, s, u), 1e-12 * magnitude);
  }
}

TEST(CyclicMds, NeverAmplifiesBeyondItsGuarantee) {
  for (const int n : {16, 32, 64, 128, 256}) {
    for (const int s : {1, 2, 4, 8, 16}) {
      if (2 * s > n) continue;
      const int u = best_stride(n, s);
      const double magnitude = stride_magnitude(n, s, u);
      const GradientCode code = bare_cyclic_mds(n, s, u);
      RandomStream random(13, "stragglers");
      std::vector<double> full;
      for (int trial = 0; trial < 40; ++trial) {
        const auto order = random.permutation(n);
        WorkerSet answered = WorkerSet::all(n);
        for (int m = 1; m <= s; ++m) {
          answered.erase(WorkerId{order[static_cast<std::size_t>(m - 1)]});
          if (m < s && m != s / 2) continue;
          const auto combination = code.decode(answered).value();
          ASSERT_LE(combination.amplification, std::ldexp(magnitude, m) * (1 + 1e-9));
          ASSERT_LE(std::sqrt(combination.residual * n), 1e-11);
          if (m == s) full.push_back(combination.amplification);
        }
      }
      EXPECT_LE(percentile(full, 0.95), s <= 4 ? 10 : s <= 8 ? 60 : 1e3) << n << " " << s;
    }
  }
}

TEST(CyclicMds, TakesTheShortestVectorWhenFewerStraggleThanTolerated) {
  const GradientCode code = bare_cyclic_mds(11, 5, best_stride(11, 5));
  const auto norm = [&](const WorkerSet& answered) {
    double sum = 0;
    for (const Complex a : testing::weights(code.decode(answered).value(), 11)) sum += std::norm(a);
    return sum;
  };
  WorkerSet answered = all_but(11, {0, 1, 2, 3, 4});
  double before = norm(answered);
  for (int i = 0; i < 4; ++i) {
    answered.insert(WorkerId{i});
    const double now = norm(answered);
    EXPECT_LT(now, before) << "one more answer";
    before = now;
  }
}

TEST(CyclicMds, WaitsForOneMoreAnswerWhereASetWouldAmplifyTooMuch) {
  const int n = 64;
  const int s = 12;
  const int u = best_stride(n, s);
  // The worst stragglers own neighbouring nodes.
  WorkerSet answered = WorkerSet::all(n);
  std::vector<int> stragglers;
  for (int i = 0; i < n; ++i) {
    if (u * i % n < s) stragglers.push_back(i);
  }
  for (const int straggler : stragglers) answered.erase(WorkerId{straggler});
  const auto limited = make_cyclic_mds({.workers = n, .stragglers = s}).value();
  const auto free =
      make_cyclic_mds({.workers = n, .stragglers = s, .amplification_limit = kNoLimit}).value();
  EXPECT_GT(free.decode(answered)->amplification, promised_amplification(MessageType::kFloat32));
  EXPECT_TRUE(free.decodable(answered));
  EXPECT_FALSE(limited.decode(answered).has_value());
  EXPECT_FALSE(limited.decodable(answered));
  for (const int straggler : stragglers) answered.insert(WorkerId{straggler});
  EXPECT_TRUE(limited.decodable(answered));
}

TEST(CyclicMds, HasTwoPartsAndCostsTwoBackwardPasses) {
  const auto code = make_cyclic_mds({.workers = 7, .stragglers = 2}).value();
  EXPECT_EQ(code.shape.parts, 2);
  EXPECT_EQ(code.backward_passes, 2);
  EXPECT_DOUBLE_EQ(code.load, 3.0 / 7);
}

TEST(CyclicMds, RefusesAStrideThatVisitsOnlySomeNodes) {
  const auto code = make_cyclic_mds({.workers = 12, .stragglers = 3, .stride = 4});
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().message,
            "stride = 4: must be positive and share no divisor with workers = 12, or 0 for the "
            "best; the best is 5");
  EXPECT_FALSE(make_cyclic_mds({.workers = 12, .stragglers = 3, .stride = -1}).has_value());
}

TEST(CyclicMds, RefusesAStrideThatAmplifiesEvenWhenAllAnswer) {
  const auto code = make_cyclic_mds({.workers = 64, .stragglers = 4, .stride = 1});
  ASSERT_FALSE(code.has_value());
  EXPECT_NE(code.error().message.find("even when all workers answer"), std::string::npos);
}

}  // namespace
}  // namespace paceline
