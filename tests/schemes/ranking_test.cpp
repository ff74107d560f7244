#include "schemes/ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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
      std::vector<std::pair<double, std::uint32_t>> expected;
      ranking.keys.clear();
      for (std::uint32_t place = 0; place < static_cast<std::uint32_t>(n); ++place) {
        ranking.keys.push_back(random_key(kind, random));
        expected.emplace_back(ranking.keys.back(), place);
      }
      std::sort(expected.begin(), expected.end());
      const auto places = ranking.rank();
      ASSERT_EQ(places.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(places[i], expected[i].second) << "kind " << kind << ", n=" << n;
      }
    }
  }
}

}  // namespace
}  // namespace paceline
