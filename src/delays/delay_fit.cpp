// Fits all models to one profile and compares them: by likelihood, by their distribution functions,
// and by what they do that no distribution shows: who straggles, and for how long.
#include "paceline/delay_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "delays/fit_mixture.hpp"
#include "delays/fit_shifted.hpp"
#include "delays/fit_two_speeds.hpp"
#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {
namespace {

/// The largest difference between P(X <= x) and the share of times <= x.
double kolmogorov_smirnov(const std::vector<double>& sorted, const FittedDistribution& fit) {
  const auto n = static_cast<double>(sorted.size());
  double largest = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const double below = fit.below(sorted[k]);
    const auto rank = static_cast<double>(k);
    largest = std::max({largest, below - rank / n, (rank + 1) / n - below});
  }
  return largest;
}

/// Times at zero load, as many workers as in `like` and at least 10,000 of them.
DelayProfile draws(const std::string& model, const DelayProfile& like) {
  const auto delays = make_delay_model(model, like.workers, 1);
  PACELINE_CHECK(delays.has_value());
  DelayProfile drawn;
  drawn.workers = like.workers;
  drawn.rounds = std::max(like.rounds, 10000 / like.workers + 1);
  for (int r = 0; r < drawn.rounds; ++r) {
    for (int i = 0; i < drawn.workers; ++i) {
      drawn.seconds.push_back((*delays)->delay(Round{r}, WorkerId{i}).base.count());
    }
  }
  return drawn;
}

std::string text_of(const FittedDistribution& fit, double slope) {
  const std::string end = slope > 0 ? fmt::format(",slope={:.6g}", slope) : "";
  std::string text;
  for (const std::string& term : fit.terms) text += (text.empty() ? "" : "+") + term + end;
  return text;
}

}  // namespace

std::vector<DelayFit> fit_delay_models(const DelayProfile& profile, double mu, double slope) {
  PACELINE_CHECK(profile.rounds >= 1 && profile.workers >= 1);
  std::vector<double> sorted = profile.seconds;
  std::sort(sorted.begin(), sorted.end());
  PACELINE_CHECK(sorted.front() > 0);
  std::vector<DelayFit> fits;
  if (sorted.front() == sorted.back()) return fits;
  const TwoSpeeds speeds = fit_two_speeds(sorted);
  for (const FittedDistribution& fit : {fit_exponential(sorted),
                                        fit_pareto(sorted),
                                        fit_lognormal(sorted),
                                        fit_lognormal_mixture(sorted),
                                        bimodal_of(speeds, sorted),
                                        fit_bursty(speeds, profile)}) {
    DelayFit made;
    made.model = text_of(fit, slope);
    made.parameters = fit.parameters;
    made.log_likelihood = fit.log_likelihood;
    made.aic = 2 * fit.parameters - 2 * fit.log_likelihood;
    made.distance = kolmogorov_smirnov(sorted, fit);
    made.straggling = straggling(draws(made.model, profile), mu);
    fits.push_back(std::move(made));
  }
  std::stable_sort(
      fits.begin(), fits.end(), [](const DelayFit& a, const DelayFit& b) { return a.aic < b.aic; });
  return fits;
}

}  // namespace paceline
