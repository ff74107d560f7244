// Follows one scheme's run: history and losses for the report, the files that grow with it, live
// progress.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "live_feed.hpp"
#include "paceline/expected.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/metrics.hpp"
#include "paceline/progress.hpp"
#include "paceline/run_report.hpp"
#include "paceline/timeline.hpp"
#include "tensorboard.hpp"
#include "train_setup.hpp"

namespace paceline::app {

/// What is written while the run goes on.
struct RunFiles {
  std::string directory;
  std::optional<Error> trouble;  ///< why the models of a scheme that ended well are not there
  MetricsWriter metrics;
  std::optional<MetricsTable> table;
  std::optional<Timeline> timeline;
};

class Recorder {
 public:
  /// @param number  of the scheme, from 1
  /// @param stop    set when a file cannot be written, which ends the run
  /// @param live    what a live page shows; nullptr: there is none
  Recorder(const Plan& plan,
           const Setup& setup,
           int number,
           RunFiles& files,
           std::atomic<bool>& stop,
           LiveState* live);

  /// @param label  of the scheme that played the round
  void on_round(const RoundReport& report, const std::string& label);

  /// Written to the metrics; the first few are said, too.
  void on_fault(const FaultReport& report);

  /// A line for people, beside the live progress.
  void say(const std::string& line);

  /// The run has ended well: leaves one line of progress.
  void finish();

  /// The models' accuracies, for TensorBoard, whose files are closed. @param accuracy  shape (M)
  Expected<void> close_events(std::span<const double> accuracy);

  /// The run has failed: takes the progress away.
  void clear() { progress_->clear(); }

  /// Why the recorder stopped the run, if it did.
  const std::optional<Error>& error() const { return error_; }

  /// The report so far.
  SchemeRun& run() { return run_; }

 private:
  void keep(Expected<void> written);

  const Plan& plan_;
  const DelaySource* delays_;  ///< nullptr: none are injected
  RunFiles& files_;
  std::optional<SchemeEvents> events_;
  std::atomic<bool>& stop_;
  SchemeRun run_;
  double residuals_ = 0;  ///< sum over the jobs so far
  ProgressState state_;
  std::unique_ptr<Progress> progress_;
  std::optional<LiveFeed> live_;
  std::optional<Error> error_;
  int faults_ = 0;
};

}  // namespace paceline::app
