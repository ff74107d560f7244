// Response times of all workers in all rounds, packed for the page. A cell is 12 bits, two base64
// characters: 2048 * straggler + level. Level 0 means no answer; level v >= 1 stands for
// low * (high/low)^((v-1)/2046). Steps of equal ratio serve milliseconds and minutes alike: over
// three decades a time is off by at most 0.17 %, which no colour and no tooltip can tell.
#pragma once

#include <span>
#include <string>

#include "paceline/run_report.hpp"

namespace paceline {

struct PackedTimes {
  int workers = 0;    ///< n
  double low = 1;     ///< seconds, > 0
  double high = 1;    ///< seconds, >= low
  std::string cells;  ///< 2 * rounds * workers characters, a round after the other
};

/// @pre all rounds have the same number of workers
PackedTimes pack_times(std::span<const RoundSummary> rounds);

}  // namespace paceline
