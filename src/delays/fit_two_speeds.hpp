// Fits of the two models with a usual and a slow speed: bimodal (rounds are independent) and bursty
// (a Markov chain per worker).
#pragma once

#include <vector>

#include "delays/fit_shifted.hpp"
#include "paceline/delay_profile.hpp"

namespace paceline {

/// Usual times are base + noise * Exp(1) or base + noise * exp(sigma Z), slow ones `slow` times
/// that.
struct TwoSpeeds {
  double base = 0;
  double noise = 0;
  double sigma = 0;  ///< 0: exponential noise
  double slow = 1;
  double share = 0;  ///< of slow times
};

/// Maximum likelihood; the noise whose AIC is the better one. @param sorted  ascending, > 0, not
/// all equal
TwoSpeeds fit_two_speeds(const std::vector<double>& sorted);

FittedDistribution bimodal_of(const TwoSpeeds& speeds, const std::vector<double>& sorted);

/// Baum-Welch for the two probabilities of the chain, given the two speeds. The likelihood is that
/// of the profile's columns as chains.
FittedDistribution fit_bursty(const TwoSpeeds& speeds, const DelayProfile& profile);

}  // namespace paceline
