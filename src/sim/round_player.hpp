// Plays a timeless scheme with stateless workers round by round instead of event by event.
//
// Such a round is known as soon as it opens: every worker's response time is, nothing that is still
// out from earlier rounds matters, and nothing happens in the middle. So there is no queue and
// there are no orders, rows or decodings; the close policy and the scheme only say at which answer
// the round ends. The result equals that of simulate().
#pragma once

#include <optional>

#include "paceline/close_policy.hpp"
#include "paceline/delays.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"

namespace paceline {

struct RoundGame {
  int jobs = 0;
  bool charge_missing_jobs = false;  ///< as RoundOptions has it
  Patience patience;
};

/// @return nothing if the game ends before all jobs are decoded; simulate() can say why
/// @pre    scheme.timeless(), and nothing of it has been played
/// Cost:   O(n) per round for most schemes; a round allocates nothing
std::optional<SimulationResult> play_rounds(Scheme& scheme,
                                            const DelaySource& delays,
                                            const RoundGame& game);

}  // namespace paceline
