#include "paceline/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

// SplitMix64's finalizer: spreads nearby seeds over all 64 bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

std::uint64_t stream_seed(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  std::uint64_t h = mix(seed);
  for (const char c : name) h = mix(h ^ static_cast<unsigned char>(c));
  return mix(h ^ index);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index)
    : engine_(stream_seed(seed, name, index)) {}

double RandomStream::uniform() { return static_cast<double>(engine_() >> 11U) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  PACELINE_CHECK(bound >= 1);
  const std::uint64_t rejected =
      (0 - bound) % bound;  // 2^64 mod bound values would be too frequent
  for (;;) {
    const std::uint64_t drawn = engine_();
    if (drawn >= rejected) return drawn % bound;
  }
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double RandomStream::exponential() { return -std::log(1 - uniform()); }

std::vector<int> RandomStream::permutation(int size) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace paceline
