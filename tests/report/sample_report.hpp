// Made-up runs for tests and for looking at the page while editing it.
#pragma once

#include "paceline/run_report.hpp"

namespace paceline::sample {

struct Size {
  int workers = 16;
  int rounds = 120;
  int models = 4;
  int schemes = 6;
};

/// Response times with slow bursts, schemes that wait for ever fewer workers, falling losses. The
/// same size gives the same report everywhere.
RunReport make_report(const Size& size);

/// Two schemes with round numbers that are easy to follow by eye; no rounds, no losses.
RunReport make_small_report();

}  // namespace paceline::sample
