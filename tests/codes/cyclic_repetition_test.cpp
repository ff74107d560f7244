#include "codes/cyclic_repetition.hpp"

#include <gtest/gtest.h>

#include "codes/code_test_support.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using testing::all_but;
using testing::kNoLimit;

// The example of the specification: n = 4, s = 2, N = [[1,-2,3,-2],[2,1,-1,-2]].
GradientCode worked_example() {
  Eigen::MatrixXd null_space(2, 4);
  null_space << 1, -2, 3, -2, 2, 1, -1, -2;
  return cyclic_repetition_from(null_space).value();
}

TEST(CyclicRepetition, HasTheColumnsOfTheWorkedExample) {
  const auto G = testing::dense(worked_example());
  const std::vector<std::vector<double>> columns = {{8. / 17, 0, 2. / 17, 7. / 17},
                                                    {2. / 3, -2. / 9, 0, 5. / 9},
                                                    {-1. / 11, 7. / 11, 5. / 11, 0},
                                                    {0, 8. / 15, 2. / 5, 1. / 15}};
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(G[i][j].real(), columns[j][i], 1e-14);
  }
}

TEST(CyclicRepetition, DecodesTheWorkedExample) {
  struct Case {
    std::vector<int> stragglers;
    std::vector<double> a;
  };

  const std::vector<Case> cases = {{{0, 1}, {0, 0, 11. / 5, 9. / 5}},
                                   {{0, 2}, {0, 11. / 7, 0, 17. / 7}},
                                   {{0, 3}, {0, -9. / 2, 17. / 2, 0}},
                                   {{1, 2}, {-11, 0, 0, 15}},
                                   {{1, 3}, {3. / 2, 0, 5. / 2, 0}},
                                   {{2, 3}, {17. / 8, 15. / 8, 0, 0}}};
  for (const Case& c : cases) {
    const auto a = testing::weights(*worked_example().decode(all_but(4, c.stragglers)), 4);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a[i].real(), c.a[i], 1e-12);
  }
}

TEST(CyclicRepetition, IsAPlainSumWhenAllAnswer) {
  const auto code =
      make_cyclic_repetition({.workers = 20, .stragglers = 5, .amplification_limit = kNoLimit})
          .value();
  const auto combination = code.decode(WorkerSet::all(20)).value();
  ASSERT_EQ(combination.terms.size(), 20U);
  for (const WorkerWeight& term : combination.terms) EXPECT_EQ(term.weight, 1);
}

TEST(CyclicRepetition, TakesTheShortestVectorWhenFewerStraggleThanTolerated) {
  const auto code =
      make_cyclic_repetition({.workers = 9, .stragglers = 4, .amplification_limit = kNoLimit})
          .value();
  const WorkerSet answered = all_but(9, {2, 7});
  const auto a = testing::weights(code.decode(answered).value(), 9);
  // Any other decode vector differs by a multiple of the difference to one with more stragglers;
  // the shortest is orthogonal to all those.
  for (const auto& more : {all_but(9, {2, 7, 0}), all_but(9, {2, 7, 4, 5})}) {
    const auto b = testing::weights(code.decode(more).value(), 9);
    std::complex<double> product = 0;
    for (std::size_t i = 0; i < 9; ++i) product += a[i] * (b[i] - a[i]);
    EXPECT_NEAR(std::abs(product), 0, 1e-9);
  }
}

TEST(CyclicRepetition, DecodesRandomSetsUpTo256Workers) {
  for (const int n : {16, 32, 64, 128, 256}) {
    for (const int s : {1, 2, 4, 8, 16}) {
      if (2 * s > n) continue;
      const auto code = make_cyclic_repetition({.workers = n,
                                                .stragglers = s,
                                                .seed = 5,
                                                .draws = 2,
                                                .amplification_limit = kNoLimit})
                            .value();
      RandomStream random(11, "stragglers");
      for (int trial = 0; trial < 20; ++trial) {
        WorkerSet answered = WorkerSet::all(n);
        const auto order = random.permutation(n);
        for (int i = 0; i < s; ++i) answered.erase(WorkerId{order[static_cast<std::size_t>(i)]});
        const auto combination = code.decode(answered).value();
        ASSERT_LE(testing::worst_deviation(code, combination),
                  1e-10 * std::max(1.0, combination.amplification));
        answered.erase(WorkerId{order[static_cast<std::size_t>(s)]});
        ASSERT_FALSE(code.decode(answered).has_value()) << "one straggler too many";
      }
    }
  }
}

TEST(CyclicRepetition, WaitsForOneMoreAnswerWhereASetWouldAmplifyTooMuch) {
  const CyclicRepetitionOptions options = {.workers = 12, .stragglers = 5, .seed = 2};
  CyclicRepetitionOptions unlimited = options;
  unlimited.amplification_limit = kNoLimit;
  const auto code = make_cyclic_repetition(options).value();
  const auto free = make_cyclic_repetition(unlimited).value();
  const double limit = promised_amplification(MessageType::kFloat32);
  int refused = 0;
  int cured = 0;
  for (unsigned mask = 0; mask < 1U << 12U; ++mask) {
    WorkerSet answered = testing::from_mask(12, mask);
    if (answered.size() != 7) continue;
    const bool within = free.decode(answered)->amplification <= limit;
    ASSERT_EQ(code.decodable(answered), within);
    ASSERT_EQ(code.decode(answered).has_value(), within);
    if (within) continue;
    ++refused;
    for (int i = 0; i < 12 && answered.size() == 7; ++i) answered.insert(WorkerId{i});
    if (code.decodable(answered)) ++cured;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GE(cured, refused * 4 / 5);
}

TEST(CyclicRepetition, RepeatsForASeedAndDiffersBetweenSeeds) {
  const auto first = make_cyclic_repetition({.workers = 8, .stragglers = 2, .seed = 3}).value();
  const auto again = make_cyclic_repetition({.workers = 8, .stragglers = 2, .seed = 3}).value();
  const auto other = make_cyclic_repetition({.workers = 8, .stragglers = 2, .seed = 4}).value();
  EXPECT_EQ(testing::dense(first), testing::dense(again));
  EXPECT_NE(testing::dense(first), testing::dense(other));
}

TEST(CyclicRepetition, IsBetterTheMoreDrawsItMayChooseFrom) {
  const auto quality = [](int draws) {
    return measure_quality(bare_cyclic_repetition({.workers = 10, .stragglers = 2, .draws = draws}))
        .p95_amplification;
  };
  EXPECT_LT(quality(20), quality(1));
}

TEST(CyclicRepetition, RefusesDrawsAndLimitsThatMakeNoSense) {
  EXPECT_EQ(make_cyclic_repetition({.workers = 8, .stragglers = 2, .draws = 0}).error().message,
            "draws = 0: at least 1 must be scored");
  EXPECT_FALSE(make_cyclic_repetition({.workers = 8, .stragglers = 2, .amplification_limit = 0.5})
                   .has_value());
  const auto tight =
      make_cyclic_repetition({.workers = 8, .stragglers = 2, .amplification_limit = 1.0001});
  ASSERT_FALSE(tight.has_value());
  EXPECT_NE(tight.error().message.find("even when all workers answer"), std::string::npos);
}

}  // namespace
}  // namespace paceline
