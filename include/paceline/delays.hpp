// How long workers take: recorded delay profiles and delay models, both seen as a time at zero load
// and a rate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
};

/// A table of response times measured at one load.
struct DelayProfile {
  int rounds = 0;
  int workers = 0;
  double load = 0;              ///< the load at which it was measured (header "load=...", else 0)
  std::vector<double> seconds;  ///< shape (rounds, workers), row-major, each > 0

  double at(int round, int worker) const {
    return seconds[static_cast<std::size_t>(round) * static_cast<std::size_t>(workers) +
                   static_cast<std::size_t>(worker)];
  }
};

/// Parses wide CSV: '#' comment lines (key=value pairs in them are read: load, workers, rounds),
/// then one line per round, one column per worker. `name` is used in errors, which give row (line
/// of the file) and column.
Expected<DelayProfile> parse_delay_profile(std::string_view text, const std::string& name);
Expected<DelayProfile> read_delay_profile(const std::string& path);

/// Block bootstrap to at least `rounds` rounds:  mt19937_64 g(seed); append blocks of B = min(10,
/// R/2) rounds that start at g() mod (R - B + 1), until there are enough. (relay spec, section 10)
DelayProfile bootstrap(const DelayProfile& profile, int rounds, std::uint64_t seed);

inline constexpr int kBootstrapBlock = 10;

/// The rounds that bootstrap() takes of a profile of `recorded` rounds, with blocks of B =
/// min(block, R/2) rounds, at least one. More rounds continue the same sequence.
std::vector<int> bootstrap_rounds(int recorded,
                                  int rounds,
                                  std::uint64_t seed,
                                  int block = kBootstrapBlock);

struct ReplayOptions {
  double slope = 0;  ///< seconds per unit of load, >= 0
  double scale = 1;  ///< every response time is multiplied by it, > 0
};

/// Replays a profile; after its last round it starts again. Fails where a time at zero load would
/// be negative.
Expected<std::unique_ptr<DelaySource>> make_replay(DelayProfile profile,
                                                   const ReplayOptions& options);

/// Builds a delay model from text, e.g. "constant:base=0.1,slope=1",
/// "bursty:base=0.1,slow=5,bad=0.05,good=0.4". Names: constant, exponential (shifted), pareto,
/// lognormal, bursty (Gilbert-Elliott per worker).
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
