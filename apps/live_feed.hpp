// What the live page of a run is told.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "paceline/dashboard.hpp"
#include "paceline/expected.hpp"
#include "paceline/live_state.hpp"
#include "train_setup.hpp"

namespace paceline::app {

/// Opens the page of `state` at `address`; nullptr where that is empty.
Expected<std::unique_ptr<Dashboard>> open_dashboard(const std::string& address,
                                                    const LiveState& state);

/// Tells of one scheme, and adds to each round what only injected delays tell: when its stragglers
/// would have answered, and what a clairvoyant would have needed.
class LiveFeed {
 public:
  /// @param number  of the scheme, from 1
  LiveFeed(LiveState& state, const Plan& plan, const Setup& setup, int number);

  /// @param label  of the scheme that played the round
  void on_round(const RoundRecord& record,
                std::span<const JobLoss> losses,
                const std::string& label);

  /// The scheme has ended.
  void end() { state_.end(); }

 private:
  std::optional<Seconds> limit();

  LiveState& state_;
  const Plan& plan_;
  const DelaySource* delays_;  ///< nullptr: none are injected
  int jobs_ = 0;               ///< decoded
  int limit_rounds_ = 0;       ///< of limit_so_far_
  Seconds limit_so_far_{0};
};

}  // namespace paceline::app
