// How much a code magnifies rounding errors: the bound, the promise that follows from it, and the
// measurement.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codes/straggler_sets.hpp"
#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

double unit_roundoff(MessageType type) {
  return type == MessageType::kFloat32 ? 0x1.0p-24 : 0x1.0p-53;
}

double worst_residual(const GradientCode& code, const std::vector<WorkerSet>& sets) {
  double worst = 0;
  for (const WorkerSet& answered : sets) {
    if (const auto combination = code.decode(answered)) {
      worst = std::max(worst, combination->residual);
    }
  }
  return worst;
}

}  // namespace

double decode_error_bound(double amplification, double residual, int chunks, MessageType type) {
  return unit_roundoff(type) * (2 * amplification + 1) + std::sqrt(residual * chunks);
}

double promised_amplification(MessageType type) {
  return (kPromisedError / unit_roundoff(type) - 1) / 2;
}

CodeQuality measure_quality(const GradientCode& code) {
  constexpr int kRandomSets = 300;
  const int n = code.workers();
  const int s = code.tolerance;
  PACELINE_CHECK(n >= 1 && s >= 0 && s < n);
  const bool few = count_sets(n, s, kRandomSets) <= kRandomSets;
  const std::vector<WorkerSet> sets =
      few ? all_survivors(n, s) : random_survivors(n, s, kRandomSets);
  const std::vector<double> typical = amplifications(code, sets);
  CodeQuality quality;
  quality.median_amplification = percentile(typical, 0.5);
  quality.p95_amplification = percentile(typical, 0.95);
  quality.worst_amplification = percentile(typical, 1);
  quality.worst_residual = worst_residual(code, sets);
  if (!few) {
    // Neighbours are judged by themselves: they straggle together more often than chance has it.
    const std::vector<WorkerSet> neighbours = neighbour_survivors(n, s);
    const std::vector<double> together = amplifications(code, neighbours);
    quality.p95_amplification = std::max(quality.p95_amplification, percentile(together, 0.95));
    quality.worst_amplification = std::max(quality.worst_amplification, percentile(together, 1));
    quality.worst_residual = std::max(quality.worst_residual, worst_residual(code, neighbours));
  }
  return quality;
}

}  // namespace paceline
