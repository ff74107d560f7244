#include "schemes/ranking.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t kFew = 1024;  // sorted faster by comparison
constexpr std::size_t kSample = 64;
constexpr int kDigit = 11;  // bits that one pass sorts by
constexpr std::size_t kValues = std::size_t{1} << kDigit;
constexpr double kMostBucket = kValues * kValues - 1;

/// Numbers the buckets so that keys keep their order. A sample says where most keys lie; what lies
/// beside it shares the outer buckets.
void find_buckets(std::vector<Ranked>& items) {
  std::array<double, kSample> sample;
  for (std::size_t j = 0; j < kSample; ++j) sample[j] = items[j * (items.size() / kSample)].key;
  std::sort(sample.begin(), sample.end());
  const double margin = (sample[kSample - 3] - sample[2]) / 8;
  const double least = sample[2] - margin;
  const double scale = kMostBucket / (sample[kSample - 3] + margin - least);
  const bool spread = scale < std::numeric_limits<double>::max();  // else most are the same
  for (Ranked& item : items) {
    const double place = spread ? (item.key - least) * scale : 0;
    item.bucket = static_cast<std::uint32_t>(std::clamp(place, 0.0, kMostBucket));
  }
}

}  // namespace

void Ranking::sort() {
  if (items.size() < kFew) return std::sort(items.begin(), items.end());
  find_buckets(items);
  std::array<std::uint32_t, kValues> low{};
  std::array<std::uint32_t, kValues> high{};
  for (const Ranked& item : items) {
    ++low[item.bucket % kValues];
    ++high[item.bucket / kValues];
  }
  std::uint32_t low_before = 0;
  std::uint32_t high_before = 0;
  for (std::size_t value = 0; value < kValues; ++value) {
    low_before += std::exchange(low[value], low_before);
    high_before += std::exchange(high[value], high_before);
  }
  sorted_.resize(items.size());
  for (const Ranked& item : items) sorted_[low[item.bucket % kValues]++] = item;
  for (const Ranked& item : sorted_) items[high[item.bucket / kValues]++] = item;
  for (auto begin = items.begin(); begin != items.end();) {
    auto end = begin + 1;
    while (end != items.end() && end->bucket == begin->bucket) ++end;
    if (end - begin > 1) std::sort(begin, end);
    begin = end;
  }
}

}  // namespace paceline
