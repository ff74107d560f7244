// A long profile from a short one: blocks of consecutive rounds drawn with replacement, so that
// bursts of slowness stay whole.
#include <algorithm>
#include <random>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {

DelayProfile bootstrap(const DelayProfile& profile, int rounds, std::uint64_t seed) {
  PACELINE_CHECK(profile.rounds >= 1 && rounds >= 1);
  // R, B: relay spec, section 10. One round alone is a block of one.
  const int R = profile.rounds;
  const int B = std::max(1, std::min(10, R / 2));
  DelayProfile grown;
  grown.workers = profile.workers;
  grown.load = profile.load;
  std::mt19937_64 g(seed);
  const auto width = static_cast<std::ptrdiff_t>(profile.workers);
  while (grown.rounds < rounds) {
    const auto start = static_cast<std::ptrdiff_t>(g() % static_cast<std::uint64_t>(R - B + 1));
    const auto first = profile.seconds.begin() + start * width;
    grown.seconds.insert(grown.seconds.end(), first, first + B * width);
    grown.rounds += B;
  }
  return grown;
}

}  // namespace paceline
