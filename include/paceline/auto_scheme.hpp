// Lets a run choose its own scheme: measure uncoded rounds, play a short list of schemes on what
// was measured, switch to the best (switching_coordinator.hpp), and measure again when jobs take
// longer or shorter than they should. Everything here is a function of what it is told;
// who runs it owns threads and clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
  int jobs = 80;   ///< J of each play
  std::string close = "eager";
  std::uint64_t seed = 0;  ///< of the run: it decides which code `code=auto` is, as do messages
  MessageType message_type = MessageType::kFloat32;
};

struct AutoChoice {
  SchemeChoice choice;
  int played = 0;                        ///< schemes
  double seconds_per_job = 0;            ///< predicted, once the scheme has got going
  double uncoded_seconds_per_job = 0;    ///< predicted, with one job per round
  double measuring_seconds_per_job = 0;  ///< predicted for what was played while measuring
};

/// What is played while response times are measured: uncoded, since everybody must answer, and with
/// as many jobs per round as can be, since such rounds are long. At most `models` and a divisor of
/// n.
SchemeChoice measuring_choice(int workers, int models, const std::string& close);

/// The schemes that are worth a try with n workers and M models, from the simplest on; `uncoded` is
/// the first, those that find their setting in the run come after those of their kind with a fixed
/// one.
std::vector<std::string> auto_candidates(int workers, int models);

/// The simplest scheme that no other one beats by more than noise (two standard errors of the
/// paired difference over the resamples) and 1 %. Every resample renumbers the workers: few rounds
/// are measured, and which workers share a group must not be what a scheme is chosen for.
/// Interrupted, it chooses among those it has played.
Expected<AutoChoice> choose_scheme(const DelayTable& measured,
                                   const AutoOptions& options,
                                   const SearchControl& control = {});

/// Whether jobs still take as long as they should. Looks at whole windows of rounds, one after the
/// other. A window departs if its time per job differs from what is expected by more than
///     20 % of it + 3 standard errors.
/// Below 20 % the best scheme hardly changes, and what the simulator leaves out (the master's own
/// work) stays below it; 3 standard errors are passed by chance in one window of 370.
class DriftWatch {
 public:
  static constexpr double kMargin = 0.2;
  static constexpr double kStandardErrors = 3;

  enum class Verdict { kNone, kAgrees, kDeparts };  ///< kNone: the window is not full

  DriftWatch(double seconds_per_job, int window) : expected_(seconds_per_job), window_(window) {}

  /// A round has closed. @param jobs  decoded in it
  Verdict add(Seconds round, int jobs);

  /// The last whole window over what was expected of it.
  double ratio() const { return last_ / expected_; }

  /// From now on the last whole window is what is expected.
  void believe();

 private:
  double expected_;   ///< seconds per job
  double error_ = 0;  ///< standard error of it
  int window_;        ///< rounds
  double last_ = 0;   ///< the last whole window's seconds per job
  double last_error_ = 0;
  std::vector<double> seconds_;
  std::vector<int> jobs_;
};

/// The order of events: measure, tune, watch, measure again, ...
///
/// A window that departs after others have agreed is a drift. Where the very first window departs,
/// the prediction was wrong, so measuring once more may help. If it was wrong twice in a row and by
/// about the same factor, this machine does not do as predicted (too few cores, for one): the run
/// itself is believed, and watched for a drift from there.
class AutoScheme {
 public:
  /// Rounds to measure: as many as two bootstrap blocks.
  static constexpr int kMeasuredRounds = 2 * kBootstrapBlock;
  /// Rounds in a window of the watch.
  static constexpr int kWindow = 30;
  /// Two predictions were wrong alike if their factors differ by less than this factor.
  static constexpr double kSameMiss = 1.5;

  enum class Wish { kNothing, kTune, kMeasure };

  /// @param jobs       of the run
  /// @param measuring  measuring_choice()
  AutoScheme(int workers, int jobs, SchemeChoice measuring)
      : measuring_(std::move(measuring)), measured_(workers), jobs_left_(jobs) {}

  const SchemeChoice& measuring() const { return measuring_; }

  /// A round has closed.
  /// @return kTune: choose a scheme for measured() and call chosen(); kMeasure: play measuring()
  Wish on_round(const RoundRecord& record, const SwitchingCoordinator::Segment& segment);

  DelayTable measured() const { return DelayTable::record(measured_, measured_.rounds()); }

  /// This is played from now on, or will be after a switch.
  void chosen(const SchemeChoice& choice, double seconds_per_job);

  /// Nothing was found: measuring() goes on, and is expected to take what it took.
  void found_nothing();

 private:
  enum class Phase { kMeasuring, kTuning, kWatching };

  bool must_measure(DriftWatch::Verdict verdict);

  SchemeChoice measuring_;
  Phase phase_ = Phase::kMeasuring;
  ObservedDelays measured_;
  Seconds measured_time_{0};
  int measured_jobs_ = 0;
  int jobs_left_;
  SchemeChoice choice_;
  DriftWatch watch_{0, kWindow};
  bool kept_ = false;             ///< a window agreed with what was predicted for choice_
  std::optional<double> missed_;  ///< by what factor the choice before it took longer than
                                  ///< predicted from the first; nothing if it did as predicted
};

}  // namespace paceline
