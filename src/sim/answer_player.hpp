// Plays a scheme whose rounds depend on nothing but their own answers (Scheme::answers_decide) with
// stateless workers and the eager close policy, round by round instead of event by event.
//
// All answers of such a round are known when it opens. The one with which it may close is found by
// bisection, so the scheme is asked about few sets of answers instead of all.
#pragma once

#include <optional>

#include "paceline/delays.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"

namespace paceline {

/// @return nothing if the game ends before all jobs are decoded; simulate() can say why. Else the
///         result of simulate()
/// @pre    scheme.answers_decide(), and nothing of it has been played
/// Cost:   per round that of plan() and close(), O(messages), and O(log messages) calls of
///         may_close()
std::optional<SimulationResult> play_by_answers(Scheme& scheme,
                                                const DelaySource& delays,
                                                int jobs);

}  // namespace paceline
