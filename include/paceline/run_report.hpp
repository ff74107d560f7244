// What a run of several schemes on the same models, data and delays leaves behind: plain data,
// filled by the program, and its three forms: a table for the terminal, JSON for programs, a page
// for people.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/ids.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// A round as the reports show it: a RoundRecord without what only drivers need.
struct RoundSummary {
  Round round;
  Seconds opened{0};  ///< since the scheme's start
  Seconds closed{0};
  int busy = 0;                 ///< workers with work in this round
  std::vector<float> response;  ///< shape (n), seconds since `opened` of the worker's last answer;
                                ///< NaN: no answer before the round closed, or no work
  WorkerSet stragglers{0};      ///< subset of n; they had not answered everything
  std::vector<JobId> decoded;
  bool waited_out = false;
};

RoundSummary summarize(const RoundRecord& record);

struct LossPoint {
  Seconds time{0};  ///< since the scheme's start
  JobId job;
  double loss = 0;  ///< mean over the samples of the job
};

/// One scheme's part of a run.
struct SchemeRun {
  std::string label;       ///< "m-sgc:B=1,W=2,lambda=4"; the baseline is the one called "uncoded"
  double load = 0;         ///< largest normalized load of a worker per round
  int decode_delay = 0;    ///< T, rounds
  int jobs_per_round = 1;  ///< m
  int jobs = 0;            ///< decoded
  int rounds = 0;
  int wait_outs = 0;  ///< rounds whose close policy waited past its cutoff
  Seconds total{0};   ///< from the start to the last decoded job
  /// The same by the simulator, before the run; for `auto` by what it chose its schemes for.
  std::optional<Seconds> predicted;
  std::optional<Seconds> limit;  ///< clairvoyant limit for the same jobs
  /// Sum over the recorded rounds of how much later the slowest worker would have answered than the
  /// round closed; empty where nobody knows.
  std::optional<Seconds> time_won;
  double mean_stragglers = 0;                ///< per round
  std::optional<double> mean_residual;       ///< per job; empty: every gradient was exact
  int skipped = 0;                           ///< jobs without a step, since too much was missing
  std::optional<double> worst_verify_error;  ///< relative; empty: gradients were not verified
  int verified = 0;                          ///< gradients compared
  std::vector<double> accuracy;              ///< shape (M) or empty: on the test set, 0 ... 1
  std::optional<double> ensemble_accuracy;   ///< of the mean of the models' probabilities
  int overruns = 0;                   ///< answers that came later than injected (too few cores)
  double bytes_per_round = 0;         ///< payload bytes the master received, mean
  std::vector<RoundSummary> history;  ///< in order of rounds
  std::vector<std::vector<LossPoint>> loss;  ///< loss[m]: model m's points in order of time

  /// Seconds per decoded job; NaN without jobs.
  double seconds_per_job() const;
  /// Mean over the models, empty if not measured.
  std::optional<double> mean_accuracy() const;
};

/// One line of the effective configuration.
struct Setting {
  std::string key;
  std::string value;
  std::string origin;  ///< "default", "flag", "environment PACELINE_SEED", "file run.toml:4"
};

struct RunReport {
  std::string kind = "run";  ///< or "simulation", "comparison"
  std::string title;
  std::string command;  ///< as typed
  std::string date;
  std::string machine;  ///< one line: processor, cores, memory
  std::vector<Setting> configuration;
  std::vector<std::string> models;  ///< shape (M), their names
  std::vector<SchemeRun> schemes;   ///< in the order they were played

  /// How many times as fast as the uncoded run `run` was, per job; empty without an uncoded run.
  std::optional<double> speed_up(const SchemeRun& run) const;

  /// One sentence if computing made schemes miss their injected delays by so much that the measured
  /// times compare this machine's cores rather than the schemes; else empty.
  std::string caution() const;
};

/// A table with a line per scheme: time, speed-up against uncoded, rounds, load, time per job,
/// prediction, clairvoyant limit with m and T, stragglers, accuracy, verification. Columns that no
/// scheme has a value for are left out. The caution, if there is one, stands below. ASCII, every
/// line ends with '\n'.
///
/// @param width  columns of the terminal; the least important columns that do not fit are left out
///               and named below the table. 0: no limit
std::string table_text(const RunReport& report, int width = 0);

/// The member "format" of to_json(); goes up when a reader of the older ones would go wrong.
inline constexpr int kReportFormat = 1;

/// Everything in `report` as one JSON object in one line, UTF-8; times in seconds, rounded to 1 us.
/// What is not known is null. read_report() (run_reports.hpp) reads it back.
std::string to_json(const RunReport& report);

/// One self-contained page (no request leaves it): the table, times with their predictions and
/// limits, response times of every worker in every round, losses, the configuration. Response times
/// are stored to 0.1 ... 0.4 % in two characters each: 256 workers x 500 rounds take 256 kB.
std::string report_html(const RunReport& report);

}  // namespace paceline
