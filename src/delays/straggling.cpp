#include <algorithm>
#include <cmath>

#include "paceline/check.hpp"
#include "paceline/delay_fit.hpp"

namespace paceline {

std::vector<int> Straggling::usual_stragglers() const {
  std::vector<int> usual;
  for (std::size_t i = 0; i < rounds_of_worker.size(); ++i) {
    if (2 * rounds_of_worker[i] > rounds) usual.push_back(static_cast<int>(i));
  }
  return usual;
}

Straggling straggling(const DelayProfile& profile, double mu) {
  PACELINE_CHECK(profile.rounds >= 1 && profile.workers >= 1 && mu >= 0);
  const auto n = static_cast<std::size_t>(profile.workers);
  Straggling found;
  found.rounds = profile.rounds;
  found.rounds_of_worker.assign(n, 0);
  std::vector<std::size_t> burst(n, 0);  // rounds that worker i has straggled for by now
  const auto end_burst = [&](std::size_t& length) {
    if (length == 0) return;
    if (found.bursts.size() < length) found.bursts.resize(length, 0);
    ++found.bursts[length - 1];
    length = 0;
  };
  double straggles = 0, followed = 0, again = 0;
  for (int r = 0; r < profile.rounds; ++r) {
    const auto row = profile.seconds.begin() + static_cast<std::ptrdiff_t>(r * profile.workers);
    const double limit = (1 + mu) * *std::min_element(row, row + profile.workers);
    for (std::size_t i = 0; i < n; ++i) {
      const bool straggled = burst[i] > 0;
      const bool straggles_now = row[static_cast<std::ptrdiff_t>(i)] > limit;
      followed += straggled ? 1 : 0;
      again += straggled && straggles_now ? 1 : 0;
      if (straggles_now) {
        ++burst[i];
        ++found.rounds_of_worker[i];
        straggles += 1;
      } else {
        end_burst(burst[i]);
      }
    }
  }
  for (std::size_t& length : burst) end_burst(length);
  found.share = straggles / static_cast<double>(profile.seconds.size());
  if (followed > 0) found.again = again / followed;
  return found;
}

std::vector<double> quantiles(const DelayProfile& profile, const std::vector<double>& q) {
  std::vector<double> sorted = profile.seconds;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> values;
  for (const double each : q) {
    PACELINE_CHECK(each >= 0 && each <= 1);
    const double at = each * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = at - static_cast<double>(below);
    values.push_back((1 - part) * sorted[below] + part * sorted[above]);
  }
  return values;
}

double worker_spread(const DelayProfile& profile) {
  const double R = profile.rounds;
  const double n = profile.workers;
  if (profile.rounds < 2 || profile.workers < 2) return 0;
  // One-way analysis of variance: the variance of the workers' means is that of their speeds plus
  // 1/R of that of one worker's times.
  double mean = 0, squares = 0, within = 0;
  for (int i = 0; i < profile.workers; ++i) {
    double sum = 0, sum_of_squares = 0;
    for (int r = 0; r < profile.rounds; ++r) {
      const double x = std::log(profile.at(r, i));
      sum += x;
      sum_of_squares += x * x;
    }
    mean += sum / R;
    squares += sum / R * sum / R;
    within += (sum_of_squares - sum * sum / R) / (R - 1);
  }
  const double between = (squares - mean * mean / n) / (n - 1);
  return std::sqrt(std::max(0.0, between - within / n / R));
}

}  // namespace paceline
