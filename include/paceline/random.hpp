// Named, seeded random streams whose bits repeat on every machine: mt19937_64 with our own
// transforms, since the standard distributions differ between libraries. (The last bit of normal
// and exponential draws is that of the C library's log and cos.)
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace paceline {

class RandomStream {
 public:
  /// Streams of one seed with different names (or indices) are independent for all practical
  /// purposes.
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  std::uint64_t bits() { return engine_(); }

  double uniform();                          ///< in [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound);  ///< in [0, bound), unbiased. @pre bound >= 1
  double normal();                         ///< mean 0, variance 1 (Box-Muller, one value per call)
  double exponential();                    ///< mean 1
  std::vector<int> permutation(int size);  ///< of 0 ... size-1 (Fisher-Yates)

 private:
  std::mt19937_64 engine_;
};

}  // namespace paceline
