// Many schemes on the same delays: how long each takes, beside the clairvoyant limit.
//
// All schemes meet the same resamples of one recorded profile. A scheme that is named with its
// parameters is played as it is. One that is named alone is tuned first, on resamples of the same
// profile that are not scored; how it would fare on rounds that tuning has not seen is what `tune`
// (tune.hpp) finds out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/delay_table.hpp"
#include "paceline/expected.hpp"
#include "paceline/play.hpp"
#include "paceline/search.hpp"

namespace paceline {

struct CompareOptions {
  /// "gc:groups=26" as it is, "gc" tuned, "all": every scheme tuned, with each close rule, and with
  /// and without bundling.
  std::vector<std::string> schemes = {"all"};
  std::vector<std::string> closes;  ///< close policies; empty: eager, or what tuning finds
  int jobs = 200;                   ///< J
  int max_delay = 3;                ///< T: at most T+1 jobs in flight
  double storage = 1;               ///< most data per worker, of tuned schemes
  int fewest_jobs_per_round = 1;    ///< of tuned schemes
  int most_jobs_per_round = 1 << 20;
  double max_residual = 0;  ///< above 0: tunes approximate codes that leave no more than this, too
  int block = kBootstrapBlock;   ///< rounds that stay together; 0: the rounds as they are, once
  int seeds = 20;                ///< resamples that are scored, with seeds 0 ... seeds-1
  bool shuffle_workers = false;  ///< renumbers the workers, anew for every resample
  PlayOptions play = {};         ///< jobs, models and close are set for each scheme
};

/// One row.
struct ComparedScheme {
  Candidate candidate;
  SchemeInfo info;
  bool tuned = false;                 ///< its settings were chosen on resamples of these rounds
  std::vector<double> seconds;        ///< shape (seeds): all jobs
  std::vector<double> limit_seconds;  ///< shape (seeds): clairvoyant, for as many jobs per round
  std::vector<RoundRecord> history;   ///< of the first resample

  double mean_seconds() const;
  double sd_seconds() const;  ///< over the resamples; 0 for one
  double mean_limit() const;

  double ratio_to_limit() const { return mean_seconds() / mean_limit(); }
};

struct Comparison {
  int workers = 0;          ///< n
  int recorded_rounds = 0;  ///< of the profile
  CompareOptions options;
  std::vector<ComparedScheme> schemes;  ///< in the order of options.schemes
  std::vector<Trial> trials;            ///< all settings that tuning tried
  std::vector<std::string> without;     ///< what no setting was found for, one line each
  bool interrupted = false;             ///< the rest of the schemes is missing
};

/// An error: a wrong scheme or close policy, or a scheme that needs more than T+1 jobs in flight.
Expected<Comparison> compare(const DelayTable& recorded,
                             const CompareOptions& options,
                             const SearchControl& control = {});

}  // namespace paceline
