// Workers that are slow all the time, as opposed to stragglers, who are slow now and then.
#pragma once

#include <vector>

#include "paceline/delay_table.hpp"

namespace paceline {

/// Each worker's median, over the rounds, of its time with 1/n of the data divided by that of the
/// round's fast quarter (the ceil(n/4)-th fastest worker). Shape (n); above 1: slower.
std::vector<double> slowness(const DelayTable& delays);

/// Workers whose slowness is above this are always slow: more than half of the time they take half
/// as long again as the fast ones.
inline constexpr double kAlwaysSlow = 1.5;

/// All workers, the slowest first; equals by number.
std::vector<int> slowest_first(const std::vector<double>& slowness);

/// Those that are always slow, ascending.
std::vector<int> always_slow(const std::vector<double>& slowness);

}  // namespace paceline
