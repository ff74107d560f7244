// Two speeds: a search over `base` and `slow`, with expectation-maximisation for the other
// parameters at each candidate, since given r = P(slow | x) they have closed forms:
//   share = mean of r;
//   noise, sigma: from the moments of (1-r) y(x) + r y(x / slow), where y is the time above base
//   (exponential noise) or its logarithm (log-normal noise).
// With exponential noise the base is the least time. The likelihood jumps where slow * base passes
// a time, so the search is a grid that is refined twice, on evenly spaced order statistics; only
// the last step uses all times.
//
// The chain: Baum-Welch with scaled forward and backward passes per worker.
// Source: Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), Eq. 40, 92, 95.
#include "delays/fit_two_speeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "delays/thinned.hpp"

namespace paceline {
namespace {

/// log(a + b) of two logarithms.
double log_sum(double a, double b) {
  const double greater = std::max(a, b);
  return greater + std::log1p(std::exp(std::min(a, b) - greater));
}

constexpr double kImpossible = -1e300;

/// Log density of a usual time.
double log_usual(const TwoSpeeds& speeds, double x) {
  const double y = x - speeds.base;
  if (speeds.sigma <= 0) {
    return y >= 0 ? -y / speeds.noise - std::log(speeds.noise) : kImpossible;
  }
  if (y <= 0) return kImpossible;
  const double log_y = std::log(y);
  const double z = (log_y - std::log(speeds.noise)) / speeds.sigma;
  return -0.5 * z * z - log_y - std::log(speeds.sigma * std::sqrt(2 * std::numbers::pi));
}

/// Logarithms of the densities of a time at the usual and at the slow speed.
struct LogDensities {
  double usual, slow;
};

LogDensities log_densities(const TwoSpeeds& speeds, double x) {
  return {log_usual(speeds, x), log_usual(speeds, x / speeds.slow) - std::log(speeds.slow)};
}

double log_likelihood(const TwoSpeeds& speeds, const std::vector<double>& times) {
  double sum = 0;
  for (const double x : times) {
    const auto [usual, slow] = log_densities(speeds, x);
    sum += log_sum(std::log1p(-speeds.share) + usual, std::log(speeds.share) + slow);
  }
  return sum;
}

/// Sums from which share, noise and sigma follow.
class Moments {
 public:
  explicit Moments(const TwoSpeeds& speeds) : speeds_(speeds) {}

  /// @param r  probability that x is a slow time
  void add(double x, double r) {
    slow_ += r;
    total_ += 1;
    if (r < 1) add_time(x, 1 - r);
    if (r > 0) add_time(x / speeds_.slow, r);
  }

  TwoSpeeds result() const {
    TwoSpeeds speeds = speeds_;
    speeds.share = std::clamp(slow_ / total_, 1e-9, 1 - 1e-9);
    if (speeds.sigma <= 0) {
      speeds.noise = std::max(sum_ / total_, 1e-6 * speeds.base);
    } else {
      const double mean = sum_ / weight_;
      speeds.noise = std::exp(mean);
      speeds.sigma = std::sqrt(std::max(1e-8, squares_ / weight_ - mean * mean));
    }
    return speeds;
  }

 private:
  void add_time(double x, double weight) {
    const double above = x - speeds_.base;
    if (speeds_.sigma <= 0) {
      sum_ += weight * above;
      return;
    }
    if (above <= 0) return;
    const double y = std::log(above);
    sum_ += weight * y;
    squares_ += weight * y * y;
    weight_ += weight;
  }

  TwoSpeeds speeds_;
  double slow_ = 0, total_ = 0, sum_ = 0, squares_ = 0, weight_ = 0;
};

TwoSpeeds improved(const TwoSpeeds& speeds, const std::vector<double>& times) {
  Moments moments(speeds);
  const double prior = std::log(speeds.share) - std::log1p(-speeds.share);
  for (const double x : times) {
    const auto [usual, slow] = log_densities(speeds, x);
    const double odds = std::exp(std::clamp(prior + slow - usual, -700.0, 700.0));
    moments.add(x, slow <= kImpossible ? 0 : odds / (1 + odds));
  }
  return moments.result();
}

/// @param sigma  0: exponential noise; any other: log-normal noise
TwoSpeeds fitted_at(
    double base, double slow, double sigma, const std::vector<double>& times, int steps) {
  TwoSpeeds start;
  start.base = base;
  start.slow = slow;
  start.sigma = sigma;
  // Who takes longer than the slow speed makes the least time counts as slow at first.
  Moments moments(start);
  for (const double x : times) moments.add(x, x >= slow * times.front() ? 1 : 0);
  TwoSpeeds speeds = moments.result();
  speeds.share = std::clamp(speeds.share, 1e-6, 1 - 1e-6);
  for (int k = 0; k < steps; ++k) speeds = improved(speeds, times);
  return speeds;
}

/// Values from low to high; one if they are equal.
struct Range {
  double low = 0, high = 0;
  int points = 1;

  double step() const { return points > 1 ? (high - low) / (points - 1) : 0; }

  double at(int k) const { return low + k * step(); }

  /// The cells beside `best`, in `finer` points.
  Range around(double best, int finer) const {
    if (points == 1) return *this;
    return {std::max(low, best - step()), std::min(high, best + step()), finer};
  }
};

/// log(slow) and the logarithm of the least time's distance from the base.
struct Place {
  double log_slow = 0, log_distance = 0;
};

class Search {
 public:
  Search(const std::vector<double>& sorted, double sigma) : sorted_(sorted), sigma_(sigma) {}

  TwoSpeeds run() const {
    const double least = sorted_.front();
    const double most = std::log(sorted_.back() / least);
    Range slow{std::min(0.02, most / 2), most, 48};
    Range distance;
    if (sigma_ > 0) {
      const double middle = sorted_[sorted_.size() / 2];
      const double nearest = std::max(0.02 * (middle - least), 1e-9 * least);
      distance = {std::log(std::min(nearest, least)), std::log(least), 10};
    }
    Place best = best_of(slow, distance, thinned(sorted_, 300));
    for (const std::size_t times : {600U, 1500U}) {
      slow = slow.around(best.log_slow, 13);
      distance = distance.around(best.log_distance, 7);
      best = best_of(slow, distance, thinned(sorted_, times));
    }
    return at(best, sorted_, 60);
  }

 private:
  TwoSpeeds at(const Place& place, const std::vector<double>& times, int steps) const {
    const double distance = sigma_ > 0 ? std::exp(place.log_distance) : 0;
    const double base = std::max(0.0, sorted_.front() - distance);
    return fitted_at(base, std::exp(place.log_slow), sigma_, times, steps);
  }

  Place best_of(const Range& slow, const Range& distance, const std::vector<double>& times) const {
    constexpr int steps = 10;
    Place best;
    double greatest = -INFINITY;
    for (int d = 0; d < distance.points; ++d) {
      for (int k = 0; k < slow.points; ++k) {
        const Place place{slow.at(k), distance.at(d)};
        const double here = log_likelihood(at(place, times, steps), times);
        if (here > greatest) {
          greatest = here;
          best = place;
        }
      }
    }
    return best;
  }

  const std::vector<double>& sorted_;
  double sigma_;
};

std::string noise_text(const TwoSpeeds& speeds) {
  return speeds.sigma > 0 ? fmt::format("noise={:.6g},sigma={:.6g}", speeds.noise, speeds.sigma)
                          : fmt::format("noise={:.6g}", speeds.noise);
}

int noise_parameters(const TwoSpeeds& speeds) { return speeds.sigma > 0 ? 2 : 1; }

double usual_below(const TwoSpeeds& speeds, double x) {
  const double y = x - speeds.base;
  if (y <= 0) return 0;
  if (speeds.sigma <= 0) return 1 - std::exp(-y / speeds.noise);
  const double z = (std::log(y) - std::log(speeds.noise)) / speeds.sigma;
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The chain of one worker, forward and backward, scaled so that each forward vector has the sum 1.
struct ChainCounts {
  double good_to_bad = 0, bad_to_good = 0, good = 0, bad = 0;  // expected transitions from a state
  double log_likelihood = 0;
};

void add_chain(const DelayProfile& profile,
               int worker,
               const TwoSpeeds& speeds,
               double p,
               double q,
               ChainCounts& counts) {
  const auto R = static_cast<std::size_t>(profile.rounds);
  std::vector<std::array<double, 2>> emission(R), forward(R), backward(R);
  std::vector<double> scale(R);
  const std::array<std::array<double, 2>, 2> turn = {{{1 - p, p}, {q, 1 - q}}};
  for (std::size_t r = 0; r < R; ++r) {
    const auto [usual, slow] = log_densities(speeds, profile.at(static_cast<int>(r), worker));
    const double greater = std::max(usual, slow);
    emission[r] = {std::exp(usual - greater), std::exp(slow - greater)};
    counts.log_likelihood += greater;
    const std::array<double, 2> before =
        r == 0 ? std::array<double, 2>{q / (p + q), p / (p + q)} : forward[r - 1];
    for (std::size_t s = 0; s < 2; ++s) {
      const double reach = r == 0 ? before[s] : before[0] * turn[0][s] + before[1] * turn[1][s];
      forward[r][s] = reach * emission[r][s];
    }
    scale[r] = std::max(forward[r][0] + forward[r][1], 1e-300);
    forward[r][0] /= scale[r];
    forward[r][1] /= scale[r];
    counts.log_likelihood += std::log(scale[r]);
  }
  backward[R - 1] = {1, 1};
  for (std::size_t r = R - 1; r-- > 0;) {
    for (std::size_t s = 0; s < 2; ++s) {
      backward[r][s] = (turn[s][0] * emission[r + 1][0] * backward[r + 1][0] +
                        turn[s][1] * emission[r + 1][1] * backward[r + 1][1]) /
                       scale[r + 1];
    }
    const auto pair = [&](std::size_t from, std::size_t to) {
      return forward[r][from] * turn[from][to] * emission[r + 1][to] * backward[r + 1][to] /
             scale[r + 1];
    };
    counts.good_to_bad += pair(0, 1);
    counts.bad_to_good += pair(1, 0);
    counts.good += pair(0, 0) + pair(0, 1);
    counts.bad += pair(1, 0) + pair(1, 1);
  }
}

}  // namespace

TwoSpeeds fit_two_speeds(const std::vector<double>& sorted) {
  const TwoSpeeds exponential = Search(sorted, 0).run();
  const TwoSpeeds lognormal = Search(sorted, 1).run();
  const double gain = log_likelihood(lognormal, sorted) - log_likelihood(exponential, sorted);
  return gain > noise_parameters(lognormal) - noise_parameters(exponential) ? lognormal
                                                                            : exponential;
}

FittedDistribution bimodal_of(const TwoSpeeds& speeds, const std::vector<double>& sorted) {
  return {{fmt::format("bimodal:base={:.6g},slow={:.6g},share={:.6g},{}",
                       speeds.base,
                       speeds.slow,
                       speeds.share,
                       noise_text(speeds))},
          3 + noise_parameters(speeds),
          log_likelihood(speeds, sorted),
          [speeds](double x) {
            return (1 - speeds.share) * usual_below(speeds, x) +
                   speeds.share * usual_below(speeds, x / speeds.slow);
          }};
}

FittedDistribution fit_bursty(const TwoSpeeds& speeds, const DelayProfile& profile) {
  constexpr int steps = 60;
  constexpr double least = 1e-6;
  double p = std::clamp(speeds.share / 2, least, 0.5);
  double q = std::clamp(p * (1 - speeds.share) / speeds.share, least, 1 - least);
  double likelihood = 0;
  for (int k = 0; k <= steps; ++k) {
    ChainCounts counts;
    for (int i = 0; i < profile.workers; ++i) add_chain(profile, i, speeds, p, q, counts);
    likelihood = counts.log_likelihood;
    if (k == steps || counts.good <= 0 || counts.bad <= 0) break;
    p = std::clamp(counts.good_to_bad / counts.good, least, 1 - least);
    q = std::clamp(counts.bad_to_good / counts.bad, least, 1 - least);
  }
  TwoSpeeds stationary = speeds;
  stationary.share = p / (p + q);
  FittedDistribution fit = bimodal_of(stationary, {});
  fit.terms = {fmt::format("bursty:base={:.6g},slow={:.6g},bad={:.6g},good={:.6g},{}",
                           speeds.base,
                           speeds.slow,
                           p,
                           q,
                           noise_text(speeds))};
  fit.parameters = 4 + noise_parameters(speeds);
  fit.log_likelihood = likelihood;
  return fit;
}

}  // namespace paceline
