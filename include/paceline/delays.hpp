// How long workers take: recorded delay profiles and delay models, both seen as a time at zero load
// and a rate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "paceline/delay_profile.hpp"
#include "paceline/expected.hpp"
#include "paceline/ids.hpp"

namespace paceline {

/// A worker's response time in a round:  base + per_load * load.
struct Delay {
  Seconds base{0};      ///< at zero load
  Seconds per_load{0};  ///< seconds per unit of load

  Seconds at(double load) const { return base + per_load * load; }
};

/// Deterministic: the same question gets the same answer, in any order.
class DelaySource {
 public:
  virtual ~DelaySource() = default;
  virtual int workers() const = 0;  ///< n
  virtual Delay delay(Round round, WorkerId worker) const = 0;

  /// All response times of a round at once: took[i] = delay(round, i).at(loads[i]), in seconds.
  /// @param loads  shape (n)
  /// @param took   shape (n), overwritten
  virtual void response_times(Round round,
                              std::span<const double> loads,
                              std::span<double> took) const;
};

struct ReplayOptions {
  double slope = 0;  ///< seconds per unit of load, >= 0
  double scale = 1;  ///< every response time is multiplied by it, > 0
  /// Times are proportional to the load: base 0, per_load = entry / load of the profile (of one
  /// measured at load 0: 1/n). Goes with slope 0.
  bool proportional = false;
};

/// Replays a profile; after its last round it starts again. Fails where a time at zero load would
/// be negative.
Expected<std::unique_ptr<DelaySource>> make_replay(DelayProfile profile,
                                                   const ReplayOptions& options);

/// Builds a delay model from text, e.g. "constant:base=0.1,slope=1",
/// "bursty:base=0.1,slow=5,bad=0.05,good=0.4". Names: constant, exponential (shifted), pareto,
/// lognormal, bimodal, bursty (Gilbert-Elliott per worker). A mixture is a sum of weighted models:
/// "0.9*constant:base=0.1+0.1*pareto:base=0.1,scale=0.2,shape=2".
Expected<std::unique_ptr<DelaySource>> make_delay_model(std::string_view text,
                                                        int workers,
                                                        std::uint64_t seed);

/// The clairvoyant limit of one round that starts m jobs: the smallest tau with
/// sum_i max(0, (tau - base_i) / per_load_i) >= m (per_load_i = 0 counts as enough once tau >=
/// base_i).
Seconds clairvoyant_round(const DelaySource& delays, Round round, int jobs);

/// Sum of the limits of ceil(jobs / jobs_per_round) rounds: what no scheme that keeps its jobs
/// within their round beats.
Seconds clairvoyant_total(const DelaySource& delays, int jobs, int jobs_per_round);

}  // namespace paceline
