// Plays a recorded profile: a response time measured at load l becomes
//   scale * (entry + slope * (load - l)),  that is  base = scale * (entry - slope * l).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {
namespace {

/// Of an entry: what rounding may take from entry - slope * l where both are equal on paper.
constexpr double kRounding = 1e-12;

// Vectorises by itself; these clones let one binary use what the machine has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void add_work(const double* base, double per_load, const double* loads, double* took, int n) {
  for (int i = 0; i < n; ++i) took[i] = base[i] + per_load * loads[i];
}

class Replay final : public DelaySource {
 public:
  Replay(DelayProfile base, Seconds per_load) : base_(std::move(base)), per_load_(per_load) {}

  int workers() const override { return base_.workers; }

  Delay delay(Round round, WorkerId worker) const override {
    PACELINE_DCHECK(round.value >= 0 && worker.value >= 0 && worker.value < base_.workers);
    return {Seconds{base_.at(round.value % base_.rounds, worker.value)}, per_load_};
  }

  void response_times(Round round,
                      std::span<const double> loads,
                      std::span<double> took) const override {
    PACELINE_DCHECK(round.value >= 0);
    const int n = base_.workers;
    PACELINE_CHECK(loads.size() == took.size() && took.size() == static_cast<std::size_t>(n));
    const double* row = base_.seconds.data() + std::ptrdiff_t{round.value % base_.rounds} * n;
    add_work(row, per_load_.count(), loads.data(), took.data(), n);
  }

 private:
  DelayProfile base_;  ///< at zero load
  Seconds per_load_;
};

}  // namespace

Expected<std::unique_ptr<DelaySource>> make_replay(DelayProfile profile,
                                                   const ReplayOptions& options) {
  PACELINE_CHECK(profile.rounds >= 1 && profile.workers >= 1);
  if (!std::isfinite(options.slope) || options.slope < 0) {
    return invalid(fmt::format(
        "slope={} is not allowed; a number of seconds per unit of load, >= 0", options.slope));
  }
  if (!std::isfinite(options.scale) || options.scale <= 0) {
    return invalid(fmt::format("scale={} is not allowed; a number > 0", options.scale));
  }
  const auto least = std::min_element(profile.seconds.begin(), profile.seconds.end());
  const double work = options.slope * profile.load;  // the part of every entry that load explains
  if (*least - work < -kRounding * *least) {
    const auto at = static_cast<int>(least - profile.seconds.begin());
    return invalid(
        fmt::format("slope={} is too steep for this profile: round {}, worker {} took {} s at load "
                    "{}, which leaves {:.4g} s at zero load; allowed: 0 <= slope <= {:.6g}",
                    options.slope,
                    at / profile.workers,
                    at % profile.workers,
                    *least,
                    profile.load,
                    *least - work,
                    *least / profile.load));
  }
  for (double& seconds : profile.seconds) {
    seconds = options.scale * std::max(0.0, seconds - work);
  }
  profile.load = 0;
  return std::unique_ptr<DelaySource>(
      std::make_unique<Replay>(std::move(profile), Seconds{options.scale * options.slope}));
}

}  // namespace paceline
