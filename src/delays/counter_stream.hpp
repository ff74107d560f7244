// Random numbers by position: any question in any order, no state, no lock.
//
// SplitMix64 adds a constant to its state at every step and mixes the result, so its c-th output is
// known without the ones before it. A delay model asks for the draws of round r, worker i directly.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, Fig.
// 17.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace paceline {

class CounterStream {
 public:
  explicit CounterStream(std::uint64_t key) : key_(key) {}

  std::uint64_t bits(std::uint64_t position) const {
    std::uint64_t x = key_ + (position + 1) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
  }

  /// In [0, 1), 53 bits.
  double uniform(std::uint64_t position) const {
    return static_cast<double>(bits(position) >> 11U) * 0x1.0p-53;
  }

  /// Mean 1.
  double exponential(std::uint64_t position) const { return -std::log(1 - uniform(position)); }

  /// Mean 0, variance 1 (Box-Muller). Uses `position` and the one after it.
  double normal(std::uint64_t position) const {
    const double radius = std::sqrt(2 * exponential(position));
    return radius * std::cos(2 * std::numbers::pi * uniform(position + 1));
  }

 private:
  std::uint64_t key_;
};

}  // namespace paceline
