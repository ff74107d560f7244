// Which scheme, with which settings, suits a cluster whose response times were recorded.
//
// All settings of all schemes are searched (search_space.hpp). A setting that was best on some
// rounds was partly lucky on them, so schemes are judged by cross-validation: the recorded rounds
// are cut into folds of consecutive rounds; for each fold a scheme is tuned on all other rounds and
// scored on this one. Scores are times per job of block-bootstrap resamples, the same for all
// schemes, so that differences are paired. What is recommended is the simplest scheme that no other
// one beats by more than noise.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_table.hpp"
#include "paceline/expected.hpp"
#include "paceline/play.hpp"
#include "paceline/search.hpp"

namespace paceline {

struct TuneOptions {
  std::vector<std::string> schemes;  ///< names of families; empty: all
  int max_delay = 3;                 ///< T: at most T+1 jobs in flight
  double storage = 1;                ///< most data per worker, as a fraction of all of it
  int fewest_jobs_per_round = 1;
  int most_jobs_per_round = 4;
  double max_residual = 0;  ///< above 0: approximate codes that leave no more than this, too
  int jobs = 100;           ///< J, of each play
  int block = kBootstrapBlock;
  int folds = 3;
  int search_resamples = 6;  ///< each candidate that gets so far meets so many
  int score_resamples = 20;  ///< of each fold
  PlayOptions play = {};     ///< jobs, models and close are set for each candidate
};

/// A mean and how far it may be from the truth: the half width of its 95 % confidence interval.
struct Estimate {
  double mean = 0;
  double half_width = 0;
};

/// The best of a family.
struct TunedScheme {
  std::string family;
  Candidate candidate;  ///< tuned on all rounds
  SchemeInfo info;
  std::vector<int> left_out;       ///< workers that take no part
  std::vector<std::string> folds;  ///< the setting found without each fold
  std::vector<double> scores;  ///< shape (score_resamples): seconds per job, mean over the folds
  Estimate seconds_per_job;    ///< on rounds that tuning had not seen
  double limit = 0;  ///< clairvoyant seconds per job, for as many jobs per round, all workers

  double ratio_to_limit() const { return seconds_per_job.mean / limit; }
};

struct Tuning {
  int workers = 0;
  int recorded_rounds = 0;
  TuneOptions options;
  std::vector<TunedScheme> schemes;  ///< from the simplest to the most involved
  std::size_t recommended = 0;       ///< index
  std::string advice;                ///< a few plain sentences
  std::vector<int> slow_workers;     ///< always slow, ascending
  std::vector<Trial> trials;         ///< all candidates that were tried on all rounds
  bool interrupted = false;          ///< the schemes that are missing were not finished
};

/// How much slower a is than b per job, seconds, on the same resamples.
/// @pre both come from one Tuning
Estimate difference(const TunedScheme& a, const TunedScheme& b, const Tuning& tuning);

/// An error: too few recorded rounds for the folds, no scheme within the limits, or interrupted
/// before any scheme was finished.
Expected<Tuning> tune(const DelayTable& recorded,
                      const TuneOptions& options,
                      const SearchControl& control = {});

}  // namespace paceline
