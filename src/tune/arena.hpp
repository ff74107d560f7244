// Where candidates are played: resamples of one recorded profile, the same ones for all, so that
// differences between candidates are not differences of luck.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/delay_table.hpp"
#include "paceline/expected.hpp"
#include "paceline/play.hpp"
#include "paceline/search.hpp"

namespace paceline {

struct ArenaOptions {
  int block =
      kBootstrapBlock;  ///< rounds that stay together; 0: one resample, the rounds as they are
  int resamples = 10;
  std::uint64_t first_seed = 0;  ///< resample b is drawn with first_seed + b
  bool shuffle_workers = false;  ///< renumbers the workers, anew for every resample
  int jobs = 100;                ///< J, of a whole play
  int models = 1;                ///< most jobs in flight
  double storage = 1;            ///< most data per worker
  double max_residual = 1;       ///< most that the gradients may lack, on average
  PlayOptions play = {};         ///< jobs, models and close are set for each candidate
};

class Arena {
 public:
  Arena(const DelayTable& recorded, const ArenaOptions& options);

  int resamples() const { return static_cast<int>(tables_.size()); }

  int jobs() const { return options_.jobs; }

  const DelayTable& table(int resample) const {
    return tables_[static_cast<std::size_t>(resample)];
  }

  /// Plays the first `jobs` jobs. An error: the candidate is wrong, needs more models or more
  /// storage than there is, leaves more than allowed, or never ends.
  Expected<Played> play(const Candidate& candidate, int resample, int jobs) const;

  /// Seconds that the first `jobs` jobs take at least, with m jobs in a round, for whoever knows
  /// all delays in advance; with all workers.
  double limit(int resample, int jobs, int jobs_per_round) const;

 private:
  ArenaOptions options_;
  std::vector<DelayTable> tables_;
};

}  // namespace paceline
