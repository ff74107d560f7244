// What delay profiles of one cluster are like, in words: shared by `paceline delays`, which reads
// them, and `paceline probe`, which has just measured them.
#pragma once

#include <string>
#include <vector>

#include "paceline/delay_fit.hpp"
#include "paceline/delay_profile.hpp"
#include "paceline/expected.hpp"

namespace paceline::app {

inline const std::vector<double> kQuantiles = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};

struct Description {
  MeasuredCluster cluster;
  double mu = 1;                  ///< stragglers take over 1+mu times the fastest
  std::vector<double> quantiles;  ///< shape (kQuantiles)
  Straggling straggling;
  double spread = 0;
  std::vector<DelayFit> fits;
};

Expected<Description> describe(MeasuredCluster cluster, double mu);

/// Loads, quantiles, stragglers and fitted models, to standard output.
/// @param title  begins the first line: what was read or measured
void print_description(const Description& found, const std::string& title);

}  // namespace paceline::app
