// What the rounds of a probe (probe.hpp) say, as delay profiles.
#pragma once

#include <vector>

#include "paceline/delay_profile.hpp"
#include "paceline/probe.hpp"

namespace paceline {

/// The response times of a probe: one table per load, shape (rounds so far, n).
class ProbeTables {
 public:
  explicit ProbeTables(const ProbePlan& plan);

  /// A round has closed. The warm-up does not count.
  void add(const RoundRecord& record);

  /// One per load, ascending; a load without a whole round has no rows.
  const std::vector<DelayProfile>& profiles() const { return tables_; }

 private:
  ProbePlan plan_;
  std::vector<DelayProfile> tables_;
};

}  // namespace paceline
