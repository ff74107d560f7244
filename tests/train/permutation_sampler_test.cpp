#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

std::vector<int> batch(const BatchSampler& sampler, int model, int update) {
  std::vector<int> samples(static_cast<std::size_t>(sampler.batch_size()));
  sampler.batch(ModelId{model}, Version{update}, samples);
  return samples;
}

TEST(PermutationSampler, VisitsEverySampleOnceInEachEpoch) {
  for (const int batch_size : {1, 3, 7, 10}) {
    const auto sampler = make_permutation_sampler(10, batch_size, 5);
    std::vector<int> sequence;
    for (int update = 0; update < 40; ++update) {
      for (const int sample : batch(*sampler, 0, update)) sequence.push_back(sample);
    }
    for (std::size_t epoch = 0; (epoch + 1) * 10 <= sequence.size(); ++epoch) {
      const auto begin = sequence.begin() + static_cast<std::ptrdiff_t>(epoch * 10);
      EXPECT_EQ(std::set<int>(begin, begin + 10).size(), 10U)
          << "epoch " << epoch << ", batches of " << batch_size;
    }
  }
}

TEST(PermutationSampler, CutsOneSequenceWhateverTheBatchSize) {
  const auto small = make_permutation_sampler(12, 2, 5);
  const auto large = make_permutation_sampler(12, 8, 5);
  std::vector<int> joined;
  for (int update = 4; update < 8; ++update) {
    for (const int sample : batch(*small, 3, update)) joined.push_back(sample);
  }
  EXPECT_EQ(joined, batch(*large, 3, 1));
}

TEST(PermutationSampler, RecomputesTheSameBatchInAnyOrderAndInAnotherProcess) {
  const auto sampler = make_permutation_sampler(1000, 64, 9);
  const std::vector<int> late = batch(*sampler, 2, 500);
  const std::vector<int> early = batch(*sampler, 2, 3);
  const auto other = make_permutation_sampler(1000, 64, 9);
  EXPECT_EQ(early, batch(*other, 2, 3));
  EXPECT_EQ(late, batch(*other, 2, 500));
}

TEST(PermutationSampler, GivesModelsEpochsAndSeedsDifferentOrders) {
  const auto sampler = make_permutation_sampler(50, 50, 1);
  const auto reseeded = make_permutation_sampler(50, 50, 2);
  EXPECT_NE(batch(*sampler, 0, 0), batch(*sampler, 1, 0));
  EXPECT_NE(batch(*sampler, 0, 0), batch(*sampler, 0, 1));
  EXPECT_NE(batch(*sampler, 0, 0), batch(*reseeded, 0, 0));
}

TEST(PermutationSampler, GivesEveryThreadTheSameBatches) {
  const auto sampler = make_permutation_sampler(500, 30, 4);
  std::vector<std::vector<int>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<int>& mine : seen) {
      threads.emplace_back([&sampler, &mine] {
        for (int update = 0; update < 60; ++update) {
          for (const int sample : batch(*sampler, update % 3, update)) mine.push_back(sample);
        }
      });
    }
  }
  for (const std::vector<int>& mine : seen) EXPECT_EQ(mine, seen[0]);
}

// Permutations of this many samples leave room for 16 in the cache.
TEST(PermutationSampler, RemakesPermutationsThatItHadToForget) {
  const auto sampler = make_permutation_sampler(1 << 20, 4, 4);
  const std::vector<int> before = batch(*sampler, 0, 7);
  for (int model = 1; model < 20; ++model) batch(*sampler, model, 7);
  EXPECT_EQ(batch(*sampler, 0, 7), before);
}

TEST(PermutationSampler, RefusesBatchesLargerThanTheDataSet) {
  EXPECT_THROW(make_permutation_sampler(10, 11, 0), ContractViolation);
  EXPECT_THROW(make_permutation_sampler(10, 0, 0), ContractViolation);
}

}  // namespace
}  // namespace paceline
