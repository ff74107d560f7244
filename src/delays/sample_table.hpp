// Measurements one by one, as long CSV and traces give them, become a table.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"

namespace paceline {

/// One response time of one worker.
struct Sample {
  std::string worker;
  std::string round;  ///< empty in all samples: the k-th sample of each worker is round k
  double seconds = 0;
  int line = 0;  ///< of the file; 0: it has none
};

/// Rounds and workers in ascending order, numbers by value and before other names.
///
/// A round in which a worker is missing is left out with a warning; an error if that is more than
/// half of them. Without rounds the longer columns are cut, likewise with a warning. A second
/// sample of the same worker and round is an error.
Expected<DelayProfile> table_of(const std::vector<Sample>& samples, const std::string& name);

}  // namespace paceline
