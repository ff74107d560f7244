// Lets a run choose its own scheme: measure uncoded rounds, play a short list of schemes on what
// was measured, switch to the best (switching_coordinator.hpp), and measure again when rounds take
// longer or shorter than they were predicted to. Everything here is a function of what it is told;
// who runs it owns threads and clocks.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_table.hpp"
#include "paceline/expected.hpp"
#include "paceline/search.hpp"
#include "paceline/switching_coordinator.hpp"

namespace paceline {

/// Response times of rounds in which everybody answered, split into a base and a rate by the time
/// that workers say they computed.
class ObservedDelays final : public DelaySource {
 public:
  explicit ObservedDelays(int workers) : workers_(workers) {}

  /// @param load  of every worker, > 0
  /// @pre everybody has answered
  void add(const Answers& answers, double load);

  int rounds() const { return static_cast<int>(delays_.size()) / workers_; }

  int workers() const override { return workers_; }

  /// @pre round < rounds()
  Delay delay(Round round, WorkerId worker) const override;

 private:
  int workers_;
  std::vector<Delay> delays_;  ///< shape (rounds, n)
};

struct AutoOptions {
  int models = 1;  ///< no scheme keeps more jobs in flight
  int jobs = 60;   ///< J of each play
  std::string close = "eager";
};

struct AutoChoice {
  SchemeChoice choice;
  int played = 0;              ///< schemes
  double seconds_per_job = 0;  ///< predicted
  double seconds_per_round = 0;
  double uncoded_seconds_per_job = 0;  ///< predicted for what was measured
};

/// The schemes that are worth a try with n workers and M models, from the simplest on; `uncoded` is
/// the first.
std::vector<std::string> auto_candidates(int workers, int models);

/// The simplest scheme that no other one beats by more than noise (two standard errors of the
/// paired difference over the resamples) and 1 %. Interrupted, it chooses among those it has
/// played.
Expected<AutoChoice> choose_scheme(const DelayTable& measured,
                                   const AutoOptions& options,
                                   const SearchControl& control = {});

/// Whether rounds still take what was predicted. Looks at whole windows of W rounds, one after the
/// other. They depart if their mean differs from the prediction by more than
///     20 % of it + 3 standard errors of the mean.
/// Below 20 % the best scheme hardly changes, and what the simulator leaves out (the master's own
/// work) stays below it; 3 standard errors are passed by chance in one window of 370.
class DriftWatch {
 public:
  static constexpr double kMargin = 0.2;
  static constexpr double kStandardErrors = 3;

  DriftWatch(double seconds_per_round, int window)
      : predicted_(seconds_per_round), window_(window) {}

  /// @return whether a window is full with this round and departs
  bool add(Seconds round);

 private:
  double predicted_;
  int window_;
  std::vector<double> seconds_;
};

/// The order of events: measure, tune, watch, measure again, ...
class AutoScheme {
 public:
  /// Rounds to measure: as many as two bootstrap blocks.
  static constexpr int kMeasuredRounds = 2 * kBootstrapBlock;
  /// Rounds in the first window of the watch. It doubles with every tuning: if a prediction cannot
  /// be kept at all (too few cores), measuring must not eat the run.
  static constexpr int kFirstWindow = 30;

  enum class Wish { kNothing, kTune, kMeasure };

  /// @param jobs  of the run
  AutoScheme(int workers, int jobs) : measured_(workers), jobs_left_(jobs) {}

  static SchemeChoice measuring(const std::string& close) { return {"uncoded", close}; }

  /// A round has closed.
  /// @return kTune: choose a scheme for measured() and call chosen(); kMeasure: play measuring()
  Wish on_round(const RoundRecord& record, const SwitchingCoordinator::Segment& segment);

  DelayTable measured() const { return DelayTable::record(measured_, measured_.rounds()); }

  /// This is played from now on, or will be after a switch.
  void chosen(const AutoChoice& choice);

 private:
  enum class Phase { kMeasuring, kTuning, kWatching };

  Phase phase_ = Phase::kMeasuring;
  ObservedDelays measured_;
  int jobs_left_;
  int tunings_ = 0;
  SchemeChoice choice_;
  DriftWatch watch_{0, kFirstWindow};
};

}  // namespace paceline
