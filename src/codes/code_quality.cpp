// How much a code magnifies rounding errors: the bound, the promise that follows from it, and the
// measurement.
#include "codes/code_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paceline/check.hpp"

namespace paceline {
namespace {

constexpr double kPromisedFloat16 = 1e-2;
constexpr double kPromisedBfloat16 = 5e-2;

/// Of weights and of the decoded sum.
double finer_roundoff(MessageType type) {
  return std::min(unit_roundoff(type), unit_roundoff(MessageType::kFloat32));
}

}  // namespace

double decode_error_bound(double amplification, double residual, int chunks, MessageType type) {
  return unit_roundoff(type) * amplification + finer_roundoff(type) * (amplification + 1) +
         std::sqrt(residual * chunks);
}

double promised_error(MessageType type) {
  switch (type) {
    case MessageType::kFloat16:
      return kPromisedFloat16;
    case MessageType::kBfloat16:
      return kPromisedBfloat16;
    case MessageType::kFloat32:
    case MessageType::kFloat64:
      break;
  }
  return kPromisedError;
}

double promised_amplification(MessageType type) {
  const double fine = finer_roundoff(type);
  return (promised_error(type) - fine) / (unit_roundoff(type) + fine);
}

double percentile(std::vector<double> values, double share) {
  PACELINE_CHECK(!values.empty() && share > 0 && share <= 1);
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()) - 1e-9));
  const auto place = values.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

CodeQuality quality_on(const GradientCode& code, const StragglerSample& sample) {
  CodeQuality quality;
  const auto amplifications = [&](const std::vector<WorkerSet>& sets) {
    std::vector<double> found;
    for (const WorkerSet& answered : sets) {
      const std::optional<Combination> combination = code.decode(answered);
      found.push_back(combination ? combination->amplification
                                  : std::numeric_limits<double>::infinity());
      if (combination) {
        quality.worst_residual = std::max(quality.worst_residual, combination->residual);
      }
    }
    return found;
  };
  const std::vector<double> typical = amplifications(sample.typical);
  quality.median_amplification = percentile(typical, 0.5);
  quality.p95_amplification = percentile(typical, 0.95);
  quality.worst_amplification = percentile(typical, 1);
  if (!sample.together.empty()) {
    const std::vector<double> together = amplifications(sample.together);
    quality.p95_amplification = std::max(quality.p95_amplification, percentile(together, 0.95));
    quality.worst_amplification = std::max(quality.worst_amplification, percentile(together, 1));
  }
  return quality;
}

CodeQuality measure_quality(const GradientCode& code) {
  constexpr int kRandomSets = 300;
  PACELINE_CHECK(code.tolerance >= 0 && code.tolerance < code.workers());
  return quality_on(code, sample_survivors(code.workers(), code.tolerance, kRandomSets));
}

}  // namespace paceline
