// `train --scheme auto`: listens to a live run, searches in a thread of its own, and hands the
// choice to the switching coordinator.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "paceline/auto_scheme.hpp"
#include "paceline/expected.hpp"
#include "paceline/switching_coordinator.hpp"

namespace paceline::app {

class AutoPilot {
 public:
  /// @param switching  outlives the pilot
  AutoPilot(SwitchingCoordinator& switching, const AutoOptions& options, int workers, int jobs);
  /// Ends a search that is running.
  ~AutoPilot();
  AutoPilot(const AutoPilot&) = delete;
  AutoPilot& operator=(const AutoPilot&) = delete;

  /// A round has closed; called between two events of the coordinator. @return one line, if there
  /// is something to say
  std::optional<std::string> on_round(const RoundRecord& record);

  /// "auto: gc:s=2", what was played in that round.
  std::string label(Round round) const;

 private:
  Expected<AutoChoice> search(const DelayTable& measured);
  std::string take_choice(const AutoChoice& choice, Round round);

  SwitchingCoordinator& switching_;
  AutoOptions options_;
  AutoScheme auto_;
  std::atomic<bool> stop_{false};
  std::future<Expected<AutoChoice>> searching_;  ///< valid while a search runs
};

}  // namespace paceline::app
