#include "report/heat_map.hpp"

#include <algorithm>
#include <cmath>

namespace paceline {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kStraggler = 2048;
constexpr int kLevels = 2047;
constexpr float kLeast = 1e-6F;  // a logarithm must not meet 0

}  // namespace

PackedTimes pack_times(std::span<const RoundSummary> rounds) {
  PackedTimes packed;
  float low = std::numeric_limits<float>::infinity();
  float high = kLeast;
  for (const RoundSummary& round : rounds) {
    for (const float time : round.response) {
      if (std::isnan(time)) continue;
      low = std::min(low, std::max(time, kLeast));
      high = std::max(high, time);
    }
  }
  if (std::isfinite(low)) {
    packed.low = low;
    packed.high = high;
  }
  const double per_ratio = high > low ? (kLevels - 1) / std::log(packed.high / packed.low) : 0;
  if (!rounds.empty()) packed.workers = static_cast<int>(rounds[0].response.size());
  packed.cells.reserve(2 * rounds.size() * static_cast<std::size_t>(packed.workers));
  for (const RoundSummary& round : rounds) {
    PACELINE_CHECK(static_cast<int>(round.response.size()) == packed.workers &&
                   round.stragglers.workers() == packed.workers);
    for (int i = 0; i < packed.workers; ++i) {
      const double time = round.response[static_cast<std::size_t>(i)];
      int code = round.stragglers.contains(WorkerId{i}) ? kStraggler : 0;
      if (!std::isnan(time)) {
        code += 1 + static_cast<int>(
                        std::lround(per_ratio * std::log(std::max(time, packed.low) / packed.low)));
      }
      packed.cells += kBase64[code / 64];
      packed.cells += kBase64[code % 64];
    }
  }
  return packed;
}

}  // namespace paceline
