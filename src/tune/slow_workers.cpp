#include "tune/slow_workers.hpp"

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<double> slowness(const DelayTable& delays) {
  const int n = delays.workers();
  std::vector<std::vector<double>> ratios(static_cast<std::size_t>(n));
  for (int r = 0; r < delays.rounds(); ++r) {
    std::vector<double> times;
    for (int i = 0; i < n; ++i) {
      times.push_back(delays.delay(Round{r}, WorkerId{i}).at(1.0 / n).count());
    }
    std::vector<double> sorted = times;
    const auto fast = sorted.begin() + (n + 3) / 4 - 1;
    std::nth_element(sorted.begin(), fast, sorted.end());
    if (!(*fast > 0)) continue;
    for (std::size_t i = 0; i < times.size(); ++i) ratios[i].push_back(times[i] / *fast);
  }
  std::vector<double> result;
  for (std::vector<double>& own : ratios) {
    result.push_back(own.empty() ? 1 : median(std::move(own)));
  }
  return result;
}

std::vector<int> slowest_first(const std::vector<double>& slowness) {
  std::vector<int> order(slowness.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, std::greater<>(), [&](int i) { return slowness[static_cast<std::size_t>(i)]; });
  return order;
}

std::vector<int> always_slow(const std::vector<double>& slowness) {
  std::vector<int> slow;
  for (std::size_t i = 0; i < slowness.size(); ++i) {
    if (slowness[i] > kAlwaysSlow) slow.push_back(static_cast<int>(i));
  }
  return slow;
}

}  // namespace paceline
