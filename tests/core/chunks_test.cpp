// Borders of chunks against exact rational arithmetic.
#include "paceline/chunks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using Borders = std::vector<int>;

TEST(ChunkBorders, EqualChunksOfADividedBatchAreEqual) {
  EXPECT_EQ(chunk_borders(12, std::vector<double>(4, 0.25)), (Borders{0, 3, 6, 9, 12}));
}

TEST(ChunkBorders, AreRoundedCumulatively) {
  // 10/3 = 3.33 -> 3, 6.67 -> 7, 10.
  EXPECT_EQ(chunk_borders(10, std::vector<double>(3, 1.0 / 3)), (Borders{0, 3, 7, 10}));
}

TEST(ChunkBorders, HalfASampleGoesDown) {
  // 2.5 -> 2, 5, 7.5 -> 7, 10: whatever the error of the sum of fractions.
  EXPECT_EQ(chunk_borders(10, std::vector<double>(4, 0.25)), (Borders{0, 2, 5, 7, 10}));
}

TEST(ChunkBorders, UnequalAndEmptyChunksAreLegal) {
  const std::vector<double> sizes = {0.5, 0, 0.25, 0.25, 0};
  EXPECT_EQ(chunk_borders(8, sizes), (Borders{0, 4, 4, 6, 8, 8}));
}

TEST(ChunkBorders, MoreChunksThanSamplesLeaveSomeEmpty) {
  // ceil(2j/5 - 1/2): 0.4 -> 0, 0.8 -> 1, 1.2 -> 1, 1.6 -> 2, 2.
  EXPECT_EQ(chunk_borders(2, std::vector<double>(5, 0.2)), (Borders{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(chunk_borders(0, std::vector<double>(3, 1.0 / 3)), (Borders{0, 0, 0, 0}));
}

TEST(ChunkBorders, OneChunkHoldsEverything) {
  EXPECT_EQ(chunk_borders(7, std::vector<double>{1}), (Borders{0, 7}));
}

// Equal fractions have an exact answer: border j is j*samples/k rounded, halves down:
// ceil(j*samples/k - 1/2) = floor((2*j*samples + k - 1) / (2*k)).
TEST(ChunkBorders, EqualFractionsAreRoundedExactly) {
  for (int k = 1; k <= 60; ++k) {
    for (const int samples : {0, 1, 2, 59, 60, 64, 100, 256, 1000, 2048, 60000}) {
      const Borders borders =
          chunk_borders(samples, std::vector<double>(static_cast<std::size_t>(k), 1.0 / k));
      for (long long j = 0; j <= k; ++j) {
        ASSERT_EQ(borders[static_cast<std::size_t>(j)], (2 * j * samples + k - 1) / (2LL * k))
            << "chunk " << j << " of " << k << ", " << samples << " samples";
      }
    }
  }
}

TEST(ChunkBorders, AddUpAndStayWithinOneSampleOfTheirSize) {
  RandomStream random(1, "chunks");
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> sizes(1 + random.below(40));
    for (double& size : sizes) size = random.below(4) == 0 ? 0 : random.exponential();
    sizes.back() += 1e-3;
    const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    for (double& size : sizes) size /= sum;
    const auto samples = static_cast<int>(random.below(5000));
    const Borders borders = chunk_borders(samples, sizes);
    ASSERT_EQ(borders.size(), sizes.size() + 1);
    EXPECT_EQ(borders.front(), 0);
    EXPECT_EQ(borders.back(), samples);
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      EXPECT_LE(borders[j], borders[j + 1]);
      EXPECT_NEAR(borders[j + 1] - borders[j], sizes[j] * samples, 1 + 1e-6);
    }
  }
}

// The sum may be off by 1e-9, which is two samples of two thousand million.
TEST(ChunkBorders, NeverPassTheEndOfTheBatch) {
  const int most = std::numeric_limits<int>::max();
  const std::vector<double> sizes = {1 + 9e-10, 0};
  EXPECT_EQ(chunk_borders(most, sizes), (Borders{0, most, most}));
}

TEST(ChunkBorders, WrongSizesAreABugOfTheCaller) {
  EXPECT_THROW(chunk_borders(-1, std::vector<double>{1}), ContractViolation);
  EXPECT_THROW(chunk_borders(5, std::vector<double>{}), ContractViolation);
  EXPECT_THROW(chunk_borders(5, std::vector<double>{0.5, 0.4}), ContractViolation);
  EXPECT_THROW(chunk_borders(5, std::vector<double>{1.5, -0.5}), ContractViolation);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(chunk_borders(5, std::vector<double>{nan, 1}), ContractViolation);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(chunk_borders(5, std::vector<double>{infinity, 1}), ContractViolation);
}

}  // namespace
}  // namespace paceline
