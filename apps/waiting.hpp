// What waiting would have cost.
#pragma once

#include <optional>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"

namespace paceline::app {

/// How long the round would have been if it had been closed by its slowest worker. Of a straggler
/// it takes the response time of `delays` at `load`, the scheme's; one that had less work would
/// have been faster.
/// @param delays  nullptr: not known, so nobody knows of a round with stragglers
std::optional<Seconds> until_slowest(const RoundRecord& record,
                                     double load,
                                     const DelaySource* delays);

/// Adds what a round won against that: nothing more is known once one round is not.
void add_time_won(std::optional<Seconds>& won,
                  const RoundRecord& record,
                  double load,
                  const DelaySource* delays);

}  // namespace paceline::app
