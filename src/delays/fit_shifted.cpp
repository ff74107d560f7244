// Maximum likelihood of  x = b + y  with y exponential, Pareto or log-normal.
//
// Given the base b, the other parameters have closed forms. The exponential's best b is the least
// time. The other two are searched for d = least - b, on a logarithmic grid and then by golden
// section: their likelihood is unbounded as d -> 0 (it praises the least time alone), so d stays
// above a thousandth of the distance from the least to the median time.
// Source: Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1 (1994), 14.4 (on the
// unbounded likelihood), 19.4, 20.4.
#include "delays/fit_shifted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace paceline {
namespace {

using LogLikelihood = std::function<double(double base)>;

/// The base in [0, least) of the greatest likelihood.
double best_base(const std::vector<double>& sorted, const LogLikelihood& likelihood) {
  constexpr int points = 40;
  const double least = sorted.front();
  const double middle = sorted[sorted.size() / 2];
  const double nearest = std::log(std::max(1e-3 * (middle - least), 1e-9 * least));
  const double furthest = std::max(nearest, std::log(least));
  const double step = (furthest - nearest) / points;
  const auto value = [&](double log_distance) {
    return likelihood(std::max(0.0, least - std::exp(log_distance)));
  };
  int best = 0;
  double greatest = value(nearest);
  for (int k = 1; k <= points; ++k) {
    const double here = value(nearest + k * step);
    if (here > greatest) {
      greatest = here;
      best = k;
    }
  }
  double low = nearest + std::max(0, best - 1) * step;
  double high = nearest + std::min(points, best + 1) * step;
  const double golden = 1 / std::numbers::phi;
  for (int k = 0; k < 30; ++k) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    if (value(a) >= value(b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return std::max(0.0, least - std::exp((low + high) / 2));
}

struct LogMoments {
  double mean = 0;
  double variance = 0;
};

/// Of log(x - base).
LogMoments log_moments(const std::vector<double>& sorted, double base) {
  double sum = 0, squares = 0;
  for (const double x : sorted) {
    const double y = std::log(x - base);
    sum += y;
    squares += y * y;
  }
  const auto n = static_cast<double>(sorted.size());
  const double mean = sum / n;
  return {mean, std::max(1e-18, squares / n - mean * mean)};
}

/// The exponent, and the likelihood at it, of a Pareto distribution that starts at the least time.
struct ParetoFit {
  double shape = 0;
  double log_likelihood = 0;
};

ParetoFit pareto_at(const std::vector<double>& sorted, double base) {
  const auto n = static_cast<double>(sorted.size());
  const double log_scale = std::log(sorted.front() - base);
  const double mean = log_moments(sorted, base).mean;
  const double shape = std::max(0.1, 1 / (mean - log_scale));
  return {shape, n * (std::log(shape) + shape * log_scale - (shape + 1) * mean)};
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace

FittedDistribution fit_exponential(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  const double base = sorted.front();
  double mean = 0;
  for (const double x : sorted) mean += (x - base) / n;
  return {{fmt::format("exponential:base={:.6g},mean={:.6g}", base, mean)},
          2,
          -n * (std::log(mean) + 1),
          [base, mean](double x) { return x > base ? 1 - std::exp(-(x - base) / mean) : 0; }};
}

FittedDistribution fit_pareto(const std::vector<double>& sorted) {
  const double base =
      best_base(sorted, [&](double b) { return pareto_at(sorted, b).log_likelihood; });
  const double scale = sorted.front() - base;
  const auto [shape, log_likelihood] = pareto_at(sorted, base);
  return {{fmt::format("pareto:base={:.6g},scale={:.6g},shape={:.6g}", base, scale, shape)},
          3,
          log_likelihood,
          [base, scale, a = shape](double x) {
            return x > base + scale ? 1 - std::pow(scale / (x - base), a) : 0;
          }};
}

FittedDistribution fit_lognormal(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  const auto likelihood = [&](double base) {
    const LogMoments log = log_moments(sorted, base);
    return -n * (log.mean + 0.5 * std::log(2 * std::numbers::pi * log.variance) + 0.5);
  };
  const double base = best_base(sorted, likelihood);
  const LogMoments log = log_moments(sorted, base);
  const double sigma = std::sqrt(log.variance);
  return {{fmt::format(
              "lognormal:base={:.6g},median={:.6g},sigma={:.6g}", base, std::exp(log.mean), sigma)},
          3,
          likelihood(base),
          [base, mean = log.mean, sigma](double x) {
            return x > base ? normal_below((std::log(x - base) - mean) / sigma) : 0;
          }};
}

}  // namespace paceline
