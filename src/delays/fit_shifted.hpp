// Fits of models whose rounds are independent: base + a random time.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace paceline {

/// A fitted distribution of single response times.
struct FittedDistribution {
  std::vector<std::string> terms;  ///< of the text, without slope; several: a mixture
  int parameters = 0;
  double log_likelihood = 0;
  std::function<double(double)> below;  ///< P(X <= x)
};

/// All: maximum likelihood. @param sorted  ascending, > 0, not all equal
FittedDistribution fit_exponential(const std::vector<double>& sorted);
FittedDistribution fit_pareto(const std::vector<double>& sorted);
FittedDistribution fit_lognormal(const std::vector<double>& sorted);

}  // namespace paceline
