// Plays a recorded profile: a response time measured at load l becomes
//   scale * (entry + slope * (load - l)),  that is  base = scale * (entry - slope * l),
// or, where times are proportional to the load,  scale * entry * load / l.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"
#include "paceline/simd.hpp"

namespace paceline {
namespace {

PACELINE_SIMD void add_work(
    const double* base, double per_load, const double* loads, double* took, int n) {
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

/// Each entry is a rate; nothing is left at zero load.
class ProportionalReplay final : public DelaySource {
 public:
  explicit ProportionalReplay(DelayProfile rates) : rates_(std::move(rates)) {}

  int workers() const override { return rates_.workers; }

  Delay delay(Round round, WorkerId worker) const override {
    PACELINE_DCHECK(round.value >= 0 && worker.value >= 0 && worker.value < rates_.workers);
    return {Seconds{0}, Seconds{rates_.at(round.value % rates_.rounds, worker.value)}};
  }

 private:
  DelayProfile rates_;  ///< seconds per unit of load
};

std::unique_ptr<DelaySource> proportional(DelayProfile profile, double scale) {
  const double load = profile.load > 0 ? profile.load : 1.0 / profile.workers;
  for (double& seconds : profile.seconds) seconds *= scale / load;
  return std::make_unique<ProportionalReplay>(std::move(profile));
}

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
  if (options.proportional) {
    if (options.slope != 0) {
      return invalid(fmt::format(
          "slope={} does not go with proportional times; those grow by all of themselves",
          options.slope));
    }
    return proportional(std::move(profile), options.scale);
  }
  auto base = at_zero_load(std::move(profile), options.slope);
  if (!base) return Unexpected(base.error());
  for (double& seconds : base->seconds) seconds *= options.scale;
  return std::unique_ptr<DelaySource>(
      std::make_unique<Replay>(std::move(*base), Seconds{options.scale * options.slope}));
}

}  // namespace paceline
