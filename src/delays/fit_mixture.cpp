// Given the base b, the logarithms of x - b are a mixture of two normal distributions, which
// expectation-maximisation fits. The base is searched on a logarithmic grid of distances from the
// least time, on evenly spaced order statistics; the last step uses all times. Neither part may
// become a point, where the likelihood is unbounded.
#include "delays/fit_mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "delays/thinned.hpp"

namespace paceline {
namespace {

constexpr double kLeastSigma = 0.02;
constexpr double kLeastWeight = 1e-3;

struct Part {
  double weight = 0, mean = 0, sigma = 1;  ///< mean and sigma of log(x - base)

  /// Logarithm of weight times the density of y = log(x - base).
  double log_density(double y) const {
    const double z = (y - mean) / sigma;
    return std::log(weight / (sigma * std::sqrt(2 * std::numbers::pi))) - 0.5 * z * z;
  }
};

struct TwoParts {
  std::array<Part, 2> parts;
  double log_likelihood = 0;  ///< of the times x, for the parts before the last step
};

/// Sums of one part.
struct Sums {
  double weight = 0, y = 0, squares = 0;

  void add(double value, double r) {
    weight += r;
    y += r * value;
    squares += r * value * value;
  }

  Part part(double total) const {
    const double mean = weight > 0 ? y / weight : 0;
    const double variance = weight > 0 ? squares / weight - mean * mean : 1;
    return {std::clamp(weight / total, kLeastWeight, 1 - kLeastWeight),
            mean,
            std::max(kLeastSigma, std::sqrt(std::max(0.0, variance)))};
  }
};

/// @param logs  log(x - base), ascending; at first those from `split` on are the tail
TwoParts expectation_maximisation(const std::vector<double>& logs, std::size_t split, int steps) {
  const auto total = static_cast<double>(logs.size());
  Sums usual, tail;
  for (std::size_t k = 0; k < logs.size(); ++k) (k < split ? usual : tail).add(logs[k], 1);
  TwoParts fit{{usual.part(total), tail.part(total)}};
  for (int step = 0; step < steps; ++step) {
    usual = tail = Sums();
    fit.log_likelihood = 0;
    for (const double y : logs) {
      const double a = fit.parts[0].log_density(y);
      const double b = fit.parts[1].log_density(y);
      const double greater = std::max(a, b);
      const double both = greater + std::log1p(std::exp(std::min(a, b) - greater));
      const double r = std::exp(b - both);
      usual.add(y, 1 - r);
      tail.add(y, r);
      fit.log_likelihood += both - y;
    }
    fit.parts = {usual.part(total), tail.part(total)};
    fit.parts[0].weight = 1 - fit.parts[1].weight;
  }
  return fit;
}

TwoParts fitted_at(double base, const std::vector<double>& sorted, int steps) {
  std::vector<double> logs;
  for (const double x : sorted) logs.push_back(std::log(x - base));
  TwoParts best;
  best.log_likelihood = -INFINITY;
  for (const std::size_t tenths : {5U, 9U}) {
    const std::size_t split = std::max<std::size_t>(1, logs.size() * tenths / 10);
    const TwoParts fit = expectation_maximisation(logs, split, steps);
    if (fit.log_likelihood > best.log_likelihood) best = fit;
  }
  return best;
}

/// The base of the greatest likelihood, of `points` whose log distances are in [low, high].
double best_distance(
    double low, double high, int points, const std::vector<double>& sorted, double least) {
  double best = low;
  double greatest = -INFINITY;
  for (int k = 0; k < points; ++k) {
    const double distance = low + (high - low) * k / (points - 1);
    const double base = std::max(0.0, least - std::exp(distance));
    const double here = fitted_at(base, sorted, 20).log_likelihood;
    if (here > greatest) {
      greatest = here;
      best = distance;
    }
  }
  return best;
}

double below(const Part& part, double y) {
  return part.weight * 0.5 * std::erfc(-(y - part.mean) / part.sigma / std::numbers::sqrt2);
}

}  // namespace

FittedDistribution fit_lognormal_mixture(const std::vector<double>& sorted) {
  constexpr int points = 16;
  const double least = sorted.front();
  const double middle = sorted[sorted.size() / 2];
  const double high = std::log(least);
  const double low = std::min(high, std::log(std::max(0.02 * (middle - least), 1e-9 * least)));
  const double step = (high - low) / (points - 1);
  // The least time stays the first of the thinned ones, so every base is below all of them.
  const double coarse = best_distance(low, high, points, thinned(sorted, 500), least);
  const double fine = best_distance(
      std::max(low, coarse - step), std::min(high, coarse + step), 9, thinned(sorted, 1500), least);
  const double base = std::max(0.0, least - std::exp(fine));
  const TwoParts fit = fitted_at(base, sorted, 150);
  FittedDistribution found;
  for (const Part& part : fit.parts) {
    found.terms.push_back(fmt::format("{:.7f}*lognormal:base={:.6g},median={:.6g},sigma={:.6g}",
                                      part.weight,
                                      base,
                                      std::exp(part.mean),
                                      part.sigma));
  }
  found.parameters = 6;
  found.log_likelihood = fit.log_likelihood;
  found.below = [base, parts = fit.parts](double x) {
    if (x <= base) return 0.0;
    const double y = std::log(x - base);
    return below(parts[0], y) + below(parts[1], y);
  };
  return found;
}

}  // namespace paceline
