#include "schemes/ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "paceline/random.hpp"

namespace paceline {
namespace {

/// Times of one of several kinds: spread, rounded (many the same), with a few far away, all alike.
double random_key(int kind, RandomStream& random) {
  const double key = random.uniform() - 0.5;
  if (kind == 0) return key;
  if (kind == 1) return std::round(20 * key) / 20;
  if (kind == 2) return random.below(50) == 0 ? 1e9 * key : key;
  return kind == 3 ? 0.25 : 1 + 1e-15 * static_cast<double>(random.below(4));
}

TEST(Ranking, SortsLikeASortByComparison) {
  RandomStream random(5, "ranking");
  Ranking ranking;
  for (int kind = 0; kind < 5; ++kind) {
    for (const int n : {0, 1, 1000, 1024, 5000, 20'000}) {
      std::vector<Ranked> expected;
      for (const int id : random.permutation(n)) {
        expected.push_back({random_key(kind, random), id, 0});
      }
      ranking.items = expected;
      std::sort(expected.begin(), expected.end());
      ranking.sort();
      ASSERT_EQ(ranking.items.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(ranking.items[i].key, expected[i].key) << "kind " << kind << ", n=" << n;
        ASSERT_EQ(ranking.items[i].id, expected[i].id) << "kind " << kind << ", n=" << n;
      }
    }
  }
}

}  // namespace
}  // namespace paceline
