// What a delay profile is like, and which delay models are like it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"

namespace paceline {

/// A worker straggles in a round if it takes more than (1+mu) times as long as the fastest one.
struct Straggling {
  double share = 0;                   ///< of all response times
  std::optional<double> again;        ///< P(straggles | straggled in the round before)
  std::vector<int> bursts;            ///< bursts[k]: so many of k+1 rounds, cut at both ends
  std::vector<int> rounds_of_worker;  ///< shape (workers): rounds in which it straggles
  std::vector<int> usual_stragglers() const;  ///< workers that straggle in over half the rounds

  int rounds = 0;
};

Straggling straggling(const DelayProfile& profile, double mu = 1);

/// The q-quantile of all response times, linear between order statistics.
/// @pre 0 <= q <= 1
std::vector<double> quantiles(const DelayProfile& profile, const std::vector<double>& q);

/// How much the workers' speeds differ, as `spread` of a delay model: the standard deviation of the
/// logarithm, without what chance alone does to the means of so few rounds.
double worker_spread(const DelayProfile& profile);

/// A delay model that was fitted to a profile, and how well it does.
struct DelayFit {
  std::string model;          ///< text for make_delay_model
  int parameters = 0;         ///< that were fitted
  double log_likelihood = 0;  ///< of all response times
  double aic = 0;             ///< 2 parameters - 2 log_likelihood: the least is the best
  double distance = 0;        ///< Kolmogorov-Smirnov: largest difference of distribution functions
  Straggling straggling;      ///< of draws of the model, as many workers
};

/// Fits exponential, pareto, lognormal, a mixture of two lognormal, bimodal and bursty by maximum
/// likelihood, best AIC first.
/// Workers count as alike. Empty if all times are equal (the model is `constant`).
///
/// @param mu     for the straggling of draws
/// @param slope  written into the texts; the profile is that at zero load
std::vector<DelayFit> fit_delay_models(const DelayProfile& profile,
                                       double mu = 1,
                                       double slope = 0);

}  // namespace paceline
