// Random streams: their bits (computed independently from the definitions of mt19937_64 and
// SplitMix64's finalizer), and their distributions.
#include "paceline/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "paceline/check.hpp"

namespace paceline {
namespace {

TEST(RandomStream, BitsAreThoseOfTheDefinition) {
  RandomStream plain(7, "delays");
  EXPECT_EQ(plain.bits(), 0x29a282538b5a29f2U);
  EXPECT_EQ(plain.bits(), 0xf8e2e525805097bcU);
  EXPECT_EQ(plain.bits(), 0x9ebe264f32961fceU);
  RandomStream indexed(7, "delays", 1);
  EXPECT_EQ(indexed.bits(), 0xa832d212abd64505U);
  RandomStream unnamed(0, "");
  EXPECT_EQ(unnamed.bits(), 0x7b6903c09fc7cabeU);
}

TEST(RandomStream, TransformsAreThoseOfTheDefinition) {
  RandomStream uniform(7, "delays");
  EXPECT_EQ(uniform.uniform(), 0x1.4d14129c5ad14p-3);
  EXPECT_EQ(uniform.uniform(), 0x1.f1c5ca4b00a12p-1);
  EXPECT_EQ(uniform.uniform(), 0x1.3d7c4c9e652c3p-1);
  RandomStream below(7, "delays");
  EXPECT_EQ(below.below(1000), 98U);
  EXPECT_EQ(below.below(1000), 412U);
  EXPECT_EQ(below.below(1000), 742U);
  EXPECT_EQ(RandomStream(7, "delays").permutation(8), (std::vector<int>{4, 5, 0, 3, 1, 7, 6, 2}));
}

// log and cos may differ in their last bit between C libraries.
TEST(RandomStream, NormalAndExponentialAreThoseOfTheDefinition) {
  RandomStream normal(7, "delays");
  EXPECT_NEAR(normal.normal(), 0.5867543484419513, 1e-14);
  EXPECT_NEAR(normal.normal(), 1.376731882188743, 1e-14);
  EXPECT_NEAR(normal.normal(), -0.4363217651507972, 1e-14);
  RandomStream exponential(7, "delays");
  EXPECT_NEAR(exponential.exponential(), 0.17749634712503615, 1e-14);
  EXPECT_NEAR(exponential.exponential(), 3.5831562070867893, 1e-14);
  EXPECT_NEAR(exponential.exponential(), 0.967818141396108, 1e-14);
}

TEST(RandomStream, ACopyContinuesLikeItsOriginal) {
  RandomStream original(3, "copy");
  original.bits();
  RandomStream copy = original;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(original.bits(), copy.bits());
}

TEST(RandomStream, StreamsDifferInSeedNameAndIndex) {
  std::set<std::uint64_t> first_draws;
  int streams = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "delays", "code"}) {
      for (std::uint64_t index = 0; index < 20; ++index, ++streams) {
        first_draws.insert(RandomStream(seed, name, index).bits());
      }
    }
  }
  EXPECT_EQ(static_cast<int>(first_draws.size()), streams);
}

TEST(RandomStream, NeighbouringStreamsAreUncorrelated) {
  // Correlation of the first draws of streams i and i+1: 0 up to 4 / sqrt(n).
  constexpr int kStreams = 10000;
  double sum = 0;
  double last = RandomStream(1, "neighbour", 0).uniform() - 0.5;
  for (std::uint64_t i = 1; i <= kStreams; ++i) {
    const double next = RandomStream(1, "neighbour", i).uniform() - 0.5;
    sum += last * next;
    last = next;
  }
  EXPECT_LT(std::abs(sum / kStreams * 12), 4 / std::sqrt(kStreams));
}

/// sum (observed - expected)^2 / expected over equally likely cells.
template <class Cells>
double chi_square(const Cells& cells, double expected) {
  double sum = 0;
  for (const int count : cells) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(RandomStream, BelowIsUnbiased) {
  RandomStream random(1, "below");
  for (const int bound : {2, 3, 7, 10, 64, 100}) {
    constexpr int kDraws = 100000;
    std::vector<int> cells(static_cast<std::size_t>(bound), 0);
    for (int i = 0; i < kDraws; ++i) ++cells[random.below(static_cast<std::uint64_t>(bound))];
    const int freedom = bound - 1;  // mean of chi square; its variance is twice that
    EXPECT_LT(chi_square(cells, static_cast<double>(kDraws) / bound),
              freedom + 5 * std::sqrt(2.0 * freedom) + 5);
  }
}

TEST(RandomStream, BelowIsUnbiasedWhereARemainderWouldBeFarFromIt) {
  // 3/4 of the range of 64 bits: a plain remainder would draw the lowest third twice as often.
  RandomStream random(1, "large");
  const std::uint64_t bound = std::uint64_t{3} << 62U;
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30000; ++i) ++thirds[random.below(bound) >> 62U];
  EXPECT_LT(chi_square(thirds, 10000), 20);
}

TEST(RandomStream, BelowOneIsZeroAndBelowZeroIsABug) {
  RandomStream random(1, "edge");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0U);
  EXPECT_THROW(random.below(0), ContractViolation);
}

/// Mean of x^power over draws.
template <class Draw>
std::array<double, 4> moments(Draw draw) {
  constexpr int kDraws = 200000;
  std::array<double, 4> sums{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    double power = 1;
    for (double& sum : sums) sum += power *= x;
  }
  for (double& sum : sums) sum /= kDraws;
  return sums;
}

// Tolerances are five standard errors of the moment: sqrt(variance / draws).
TEST(RandomStream, UniformHasItsMoments) {
  RandomStream random(1, "uniform");
  const auto m = moments([&] {
    const double x = random.uniform();
    EXPECT_TRUE(x >= 0 && x < 1);
    return x;
  });
  EXPECT_NEAR(m[0], 1.0 / 2, 0.0033);
  EXPECT_NEAR(m[1], 1.0 / 3, 0.0034);
  EXPECT_NEAR(m[3], 1.0 / 5, 0.0030);
}

TEST(RandomStream, NormalHasItsMoments) {
  RandomStream random(1, "normal");
  const auto m = moments([&] { return random.normal(); });
  EXPECT_NEAR(m[0], 0, 0.0112);
  EXPECT_NEAR(m[1], 1, 0.0159);
  EXPECT_NEAR(m[2], 0, 0.0434);
  EXPECT_NEAR(m[3], 3, 0.11);
}

TEST(RandomStream, ExponentialHasItsMoments) {
  RandomStream random(1, "exponential");
  const auto m = moments([&] {
    const double x = random.exponential();
    EXPECT_TRUE(x >= 0 && std::isfinite(x));
    return x;
  });
  EXPECT_NEAR(m[0], 1, 0.0112);
  EXPECT_NEAR(m[1], 2, 0.05);
  EXPECT_NEAR(m[2], 6, 0.3);
}

TEST(RandomStream, AllPermutationsAreEquallyLikely) {
  RandomStream random(1, "permutation");
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24000; ++i) ++seen[random.permutation(4)];
  ASSERT_EQ(seen.size(), 24U);
  std::vector<int> cells;
  for (const auto& [order, count] : seen) cells.push_back(count);
  EXPECT_LT(chi_square(cells, 1000), 23 + 5 * std::sqrt(2.0 * 23));
  EXPECT_TRUE(random.permutation(0).empty());
  EXPECT_EQ(random.permutation(1), std::vector<int>{0});
}

}  // namespace
}  // namespace paceline
