// The settings among which relay chooses. The axes span the whole useful range, so that nothing is
// tuned to a cluster.
#pragma once

#include <vector>

#include "schemes/relay_plan.hpp"

namespace paceline::relay {

/// Clusters of more workers choose from fewer settings, and play them on fewer rounds: their
/// rounds take long to play, and vary less.
inline constexpr int kManyWorkers = 1024;

inline bool has_many_workers(const Game& game) { return game.workers > kManyWorkers; }

/// @param bundles  the bundles m to try; each at most game.window and game.workers / game.groups
/// @return every combination worth trying; never empty
std::vector<Setting> candidate_settings(const Game& game,
                                        const std::vector<int>& bundles,
                                        bool accept_late);

/// Repetition by groups: so many copies of every unit as pay, in the order of the workers' numbers,
/// and nothing else. @pre game.window is 1
std::vector<Setting> candidate_groups(const Game& game);

/// The divisors of the window T+1 that n workers can serve.
std::vector<int> possible_bundles(const Game& game);

/// Where to begin, before anything is known: three copies, and as many jobs per round as allowed if
/// there are workers enough for it.
Setting first_setting(const Game& game, const std::vector<int>& bundles);

}  // namespace paceline::relay
