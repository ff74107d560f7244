// A live run that chooses its own scheme: listens to the run, searches in a thread of its own, and
// hands the choice to the switching coordinator. What is decided, and when, is auto_scheme.hpp's.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "paceline/auto_scheme.hpp"
#include "paceline/expected.hpp"
#include "paceline/switching_coordinator.hpp"

namespace paceline {

class AutoPilot {
 public:
  /// @param switching  plays measuring_choice() at first; outlives the pilot
  /// @param jobs       of the run
  AutoPilot(SwitchingCoordinator& switching, const AutoOptions& options, int workers, int jobs);
  /// Ends a search that is running.
  ~AutoPilot();
  AutoPilot(const AutoPilot&) = delete;
  AutoPilot& operator=(const AutoPilot&) = delete;

  /// A round has closed; called between two events of the coordinator. @return one line, if there
  /// is something to say
  std::optional<std::string> on_round(const RoundRecord& record);

  /// Returns when no search is running: the next on_round() takes what it has found.
  void wait_for_search() const;

  /// "auto: gc:s=2", what was played in that round.
  std::string label(Round round) const;

  /// What all jobs should have taken by the predictions that the schemes were chosen for; nothing
  /// if something was played that was not predicted. Asked after the run.
  std::optional<Seconds> predicted() const;

 private:
  Expected<AutoChoice> search(const DelayTable& measured);
  std::string take_choice(const AutoChoice& choice, Round round);

  SwitchingCoordinator& switching_;
  AutoOptions options_;
  int jobs_;
  AutoScheme auto_;
  std::vector<std::optional<double>> seconds_per_job_;  ///< predicted, by segment
  std::atomic<bool> stop_{false};
  std::future<Expected<AutoChoice>> searching_;  ///< valid while a search runs
};

/// The clairvoyant limit of what was played: each segment's jobs in its rounds, as many per round
/// as its scheme starts. @param jobs  of the run
Seconds clairvoyant_total(const DelaySource& delays,
                          const std::vector<SwitchingCoordinator::Segment>& segments,
                          int jobs);

}  // namespace paceline
