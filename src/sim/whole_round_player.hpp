// Plays a scheme that looks at times round by round (whole_rounds.hpp) against a delay source.
#pragma once

#include <optional>

#include "paceline/delays.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"

namespace paceline {

/// @param scheme  nothing of it has been played; built for `jobs` jobs
/// @return nothing if the scheme is not played so, or the game does not come to its end this way;
///         simulate() can say why. Else the result of simulate() with stateless workers and the
///         eager close policy
std::optional<SimulationResult> play_whole_rounds(const Scheme& scheme,
                                                  const DelaySource& delays,
                                                  int jobs);

}  // namespace paceline
