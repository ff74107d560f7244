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

std::uint32_t bucket_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32U); }

std::uint32_t place_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }

std::size_t low_digit(std::uint64_t entry) { return bucket_of(entry) % kValues; }

std::size_t high_digit(std::uint64_t entry) { return bucket_of(entry) / kValues; }

}  // namespace

std::span<const std::uint32_t> Ranking::rank() {
  if (keys.size() < kFew) return rank_few();
  find_buckets();
  sort_by_bucket();
  places_.resize(keys.size());
  std::ranges::transform(entries_, places_.begin(), place_of);
  const auto earlier = [this](std::uint32_t a, std::uint32_t b) {
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
  };
  for (std::size_t begin = 0; begin < entries_.size();) {
    std::size_t end = begin + 1;
    while (end < entries_.size() && bucket_of(entries_[end]) == bucket_of(entries_[begin])) ++end;
    if (end - begin > 1) std::sort(&places_[begin], &places_[begin] + (end - begin), earlier);
    begin = end;
  }
  return places_;
}

std::span<const std::uint32_t> Ranking::rank_few() {
  std::array<std::pair<double, std::uint32_t>, kFew> items;
  const std::size_t n = keys.size();
  for (std::size_t i = 0; i < n; ++i) items[i] = {keys[i], static_cast<std::uint32_t>(i)};
  std::sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n));
  places_.resize(n);
  for (std::size_t i = 0; i < n; ++i) places_[i] = items[i].second;
  return places_;
}

/// Numbers the buckets so that keys keep their order. A sample says where most keys lie; what lies
/// beside it shares the outer buckets.
void Ranking::find_buckets() {
  std::array<double, kSample> sample;
  for (std::size_t j = 0; j < kSample; ++j) sample[j] = keys[j * (keys.size() / kSample)];
  std::sort(sample.begin(), sample.end());
  const double margin = (sample[kSample - 3] - sample[2]) / 8;
  const double least = sample[2] - margin;
  const double scale = kMostBucket / (sample[kSample - 3] + margin - least);
  const bool spread = scale < std::numeric_limits<double>::max();  // else most are the same
  entries_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double place = spread ? (keys[i] - least) * scale : 0;
    const auto bucket = static_cast<std::uint64_t>(std::clamp(place, 0.0, kMostBucket));
    entries_[i] = bucket << 32U | i;
  }
}

void Ranking::sort_by_bucket() {
  std::array<std::uint32_t, kValues> low{};
  std::array<std::uint32_t, kValues> high{};
  for (const std::uint64_t entry : entries_) {
    ++low[low_digit(entry)];
    ++high[high_digit(entry)];
  }
  std::uint32_t low_before = 0;
  std::uint32_t high_before = 0;
  for (std::size_t value = 0; value < kValues; ++value) {
    low_before += std::exchange(low[value], low_before);
    high_before += std::exchange(high[value], high_before);
  }
  sorted_.resize(entries_.size());
  for (const std::uint64_t entry : entries_) sorted_[low[low_digit(entry)]++] = entry;
  for (const std::uint64_t entry : sorted_) entries_[high[high_digit(entry)]++] = entry;
}

}  // namespace paceline
