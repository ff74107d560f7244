// A long profile from a short one: blocks of consecutive rounds drawn with replacement, so that
// bursts of slowness stay whole.
#include <algorithm>
#include <random>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {

std::vector<int> bootstrap_rounds(int recorded, int rounds, std::uint64_t seed, int block) {
  PACELINE_CHECK(recorded >= 1 && rounds >= 1 && block >= 1);
  // R, B: relay spec, section 10. One round alone is a block of one.
  const int R = recorded;
  const int B = std::max(1, std::min(block, R / 2));
  std::mt19937_64 g(seed);
  std::vector<int> drawn;
  while (static_cast<int>(drawn.size()) < rounds) {
    const auto start = static_cast<int>(g() % static_cast<std::uint64_t>(R - B + 1));
    for (int r = start; r < start + B; ++r) drawn.push_back(r);
  }
  return drawn;
}

DelayProfile bootstrap(const DelayProfile& profile, int rounds, std::uint64_t seed) {
  DelayProfile grown;
  grown.workers = profile.workers;
  grown.load = profile.load;
  const auto width = static_cast<std::ptrdiff_t>(profile.workers);
  for (const int round : bootstrap_rounds(profile.rounds, rounds, seed)) {
    const auto first = profile.seconds.begin() + round * width;
    grown.seconds.insert(grown.seconds.end(), first, first + width);
    ++grown.rounds;
  }
  return grown;
}

}  // namespace paceline
