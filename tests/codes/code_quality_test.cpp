#include "codes/code_quality.hpp"

#include <gtest/gtest.h>

#include "codes/code_test_support.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

TEST(CodeQuality, BoundsTheErrorByRoundingAndResidual) {
  EXPECT_DOUBLE_EQ(decode_error_bound(1, 0, 8, MessageType::kFloat32), 3 * 0x1.0p-24);
  EXPECT_DOUBLE_EQ(decode_error_bound(10, 0, 8, MessageType::kFloat64), 21 * 0x1.0p-53);
  EXPECT_DOUBLE_EQ(decode_error_bound(10, 0, 8, MessageType::kFloat16),
                   10 * 0x1p-11 + 11 * 0x1p-24);
  EXPECT_DOUBLE_EQ(decode_error_bound(10, 0, 8, MessageType::kBfloat16),
                   10 * 0x1p-8 + 11 * 0x1p-24);
  EXPECT_DOUBLE_EQ(decode_error_bound(1, 1e-6, 4, MessageType::kFloat64), 3 * 0x1.0p-53 + 2e-3);
}

TEST(CodeQuality, AllowsTheAmplificationThatJustKeepsThePromise) {
  for (const MessageType type : {MessageType::kFloat16,
                                 MessageType::kBfloat16,
                                 MessageType::kFloat32,
                                 MessageType::kFloat64}) {
    const double limit = promised_amplification(type);
    EXPECT_NEAR(decode_error_bound(limit, 0, 8, type), promised_error(type), 1e-15);
  }
  EXPECT_EQ(promised_error(MessageType::kFloat32), kPromisedError);
  EXPECT_NEAR(promised_amplification(MessageType::kFloat32), 83.386, 1e-3);
  EXPECT_NEAR(promised_amplification(MessageType::kFloat16), 20.477, 1e-3);
  EXPECT_NEAR(promised_amplification(MessageType::kBfloat16), 12.800, 1e-3);
}

TEST(CodeQuality, IsPerfectForPlainSums) {
  for (const auto& [n, s] : {std::pair{6, 2}, {7, 2}, {256, 27}}) {
    const CodeQuality quality =
        measure_quality(make_fractional_repetition({.workers = n, .stragglers = s}).value());
    EXPECT_EQ(quality.median_amplification, 1);
    EXPECT_EQ(quality.p95_amplification, 1);
    EXPECT_EQ(quality.worst_amplification, 1);
    EXPECT_EQ(quality.worst_residual, 0);
  }
}

TEST(CodeQuality, LooksAtEverySetOfASmallCode) {
  // Worst amplification over all straggler sets; its source found it at the full size s.
  struct Case {
    int n;
    int s;
    double worst;
  };

  for (const Case& c : {Case{8, 1, 1.77},
                        {8, 2, 2.41},
                        {8, 3, 6.44},
                        {8, 4, 5.03},
                        {8, 5, 8.29},
                        {10, 1, 2.18},
                        {10, 2, 2.31},
                        {10, 3, 7.28},
                        {10, 4, 11.6},
                        {10, 5, 10.0},
                        {12, 2, 3.73},
                        {12, 3, 5.03}}) {
    const auto code = make_cyclic_mds({.workers = c.n, .stragglers = c.s}).value();
    EXPECT_NEAR(measure_quality(code).worst_amplification, c.worst, 0.06) << c.n << " " << c.s;
  }
}

TEST(CodeQuality, CountsASetThatIsNotDecodedAsInfinite) {
  const auto code =
      make_cyclic_mds({.workers = 8, .stragglers = 3, .amplification_limit = 5}).value();
  EXPECT_EQ(measure_quality(code).worst_amplification, testing::kNoLimit);
}

TEST(CodeQuality, OrdersItsNumbers) {
  const CodeQuality quality = measure_quality(
      make_code({.name = "cyclic", .workers = 40, .stragglers = 5, .keep_promise = false}).value());
  EXPECT_LE(1, quality.median_amplification);
  EXPECT_LE(quality.median_amplification, quality.p95_amplification);
  EXPECT_LE(quality.p95_amplification, quality.worst_amplification);
}

TEST(StragglerSets, CountsAndListsThemAll) {
  EXPECT_EQ(count_sets(12, 2, 1000), 66);
  EXPECT_EQ(count_sets(12, 0, 1000), 1);
  EXPECT_EQ(count_sets(256, 128, 1000), 1001);
  for (const auto& [n, s] : {std::pair{1, 0}, {5, 0}, {5, 2}, {6, 5}}) {
    const auto sets = all_survivors(n, s);
    EXPECT_EQ(static_cast<std::int64_t>(sets.size()), count_sets(n, s, 1000));
    for (const WorkerSet& set : sets) EXPECT_EQ(set.size(), n - s);
  }
  EXPECT_EQ(neighbour_survivors(5, 2)[4], testing::all_but(5, {4, 0}));
}

TEST(StragglerSets, AreAllThereAreOrRandomOnesWithTheNeighbours) {
  EXPECT_EQ(sample_survivors(12, 4, 10).typical.size(), 495U);
  EXPECT_TRUE(sample_survivors(12, 4, 10).together.empty());
  EXPECT_EQ(sample_survivors(40, 4, 10).typical.size(), 10U);
  EXPECT_EQ(sample_survivors(40, 4, 10).together.size(), 40U);
}

TEST(CodeQuality, TakesPercentilesByRank) {
  EXPECT_EQ(percentile({3, 1, 2, 4}, 0.5), 2);
  EXPECT_EQ(percentile({3, 1, 2, 4}, 0.75), 3);
  EXPECT_EQ(percentile({3, 1, 2, 4}, 0.95), 4);
  EXPECT_EQ(percentile({5}, 0.01), 5);
}

}  // namespace
}  // namespace paceline
