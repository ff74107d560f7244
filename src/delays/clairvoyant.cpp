// What no round beats: all workers together, each with exactly the share it can do by tau.
//
// Work done by tau,  sum_i max(0, (tau - a_i) / b_i),  is convex and piecewise linear with
// breakpoints a_i. Workers sorted by a_i are added one by one; with the first ones in, the wanted
// amount is reached at tau = (m + sum a_i / b_i) / sum 1 / b_i, which is the answer as soon as the
// next worker would start later than that.
#include <algorithm>
#include <cmath>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {
namespace {

/// One worker: its time at zero load a and its seconds per unit of load b.
using Line = std::pair<double, double>;

Seconds limit_of(std::vector<Line>& lines, double m) {
  std::sort(lines.begin(), lines.end());
  double tau = kNever.count();
  double rate = 0;    // sum of 1/b
  double offset = 0;  // sum of a/b
  for (const auto& [a, b] : lines) {
    if (a >= tau) break;
    if (b <= 0) return Seconds{a};  // does any amount at once; sorted first among equal a
    rate += 1 / b;
    offset += a / b;
    tau = (m + offset) / rate;
  }
  return Seconds{tau};
}

Seconds round_limit(const DelaySource& delays, Round round, int jobs, std::vector<Line>& lines) {
  lines.clear();
  for (int i = 0; i < delays.workers(); ++i) {
    const Delay delay = delays.delay(round, WorkerId{i});
    if (std::isfinite(delay.base.count()) && std::isfinite(delay.per_load.count())) {
      lines.emplace_back(delay.base.count(), delay.per_load.count());
    }
  }
  return limit_of(lines, jobs);
}

}  // namespace

Seconds clairvoyant_round(const DelaySource& delays, Round round, int jobs) {
  PACELINE_CHECK(jobs >= 1);
  std::vector<Line> lines;
  return round_limit(delays, round, jobs, lines);
}

Seconds clairvoyant_total(const DelaySource& delays, int jobs, int jobs_per_round) {
  PACELINE_CHECK(jobs >= 1 && jobs_per_round >= 1);
  Seconds total{0};
  std::vector<Line> lines;
  for (int r = 0, left = jobs; left > 0; ++r, left -= jobs_per_round) {
    total += round_limit(delays, Round{r}, std::min(left, jobs_per_round), lines);
  }
  return total;
}

}  // namespace paceline
