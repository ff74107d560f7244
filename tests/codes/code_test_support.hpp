// Slow and obvious: what a combination of answers adds up to, read off the terms alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "paceline/gradient_code.hpp"

namespace paceline::testing {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

inline WorkerSet all_but(int workers, const std::vector<int>& stragglers) {
  WorkerSet set = WorkerSet::all(workers);
  for (const int straggler : stragglers) set.erase(WorkerId{straggler});
  return set;
}

/// Bit i of `mask` tells whether worker i answered.
inline WorkerSet from_mask(int workers, unsigned mask) {
  WorkerSet set(workers);
  for (int i = 0; i < workers; ++i) {
    if ((mask >> static_cast<unsigned>(i) & 1U) != 0) set.insert(WorkerId{i});
  }
  return set;
}

/// G as a dense matrix, shape (n, k); a real code has imaginary parts 0.
inline std::vector<std::vector<std::complex<double>>> dense(const GradientCode& code) {
  std::vector<std::vector<std::complex<double>>> G(
      code.rows.size(), std::vector<std::complex<double>>(static_cast<std::size_t>(code.chunks)));
  for (std::size_t i = 0; i < code.rows.size(); ++i) {
    for (const Term& term : code.rows[i].terms()) {
      const bool real = term.part == kWhole || (term.part == 0 && term.segment == 0);
      const bool imaginary = term.part == 0 && term.segment == 1;
      if (real) G[i][term.chunk.index()] += term.weight;
      if (imaginary) G[i][term.chunk.index()] += std::complex<double>(0, term.weight);
    }
  }
  return G;
}

/// a, shape (n); 0 where a worker does not appear.
inline std::vector<std::complex<double>> weights(const Combination& combination, int workers) {
  std::vector<std::complex<double>> a(static_cast<std::size_t>(workers));
  for (const WorkerWeight& term : combination.terms) {
    const bool real = term.part == kWhole || (term.part == 0 && term.segment == 0);
    const bool imaginary = term.part == 1 && term.segment == 0;
    if (real) a[term.worker.index()] += term.weight;
    if (imaginary) a[term.worker.index()] += std::complex<double>(0, term.weight);
  }
  return a;
}

/// The largest distance of the decoded sum from the true one: every part of every chunk must arrive
/// in its own part with weight 1, and in no other part.
inline double worst_deviation(const GradientCode& code, const Combination& combination) {
  const int parts = code.shape.parts;
  const auto entry = [&](int chunk, int from, int to) {
    return static_cast<std::size_t>((chunk * parts + from) * parts + to);
  };
  std::vector<double> sum(static_cast<std::size_t>(code.chunks * parts * parts), 0.0);
  for (const WorkerWeight& outer : combination.terms) {
    for (const Term& inner : code.rows[outer.worker.index()].terms()) {
      if (outer.segment != inner.segment) continue;
      const int from = std::max(inner.part, 0);
      const int to = std::max(outer.part, 0);
      sum[entry(inner.chunk.value, from, to)] += outer.weight * inner.weight;
    }
  }
  double worst = 0;
  for (int chunk = 0; chunk < code.chunks; ++chunk) {
    for (int from = 0; from < parts; ++from) {
      for (int to = 0; to < parts; ++to) {
        const double wanted = from == to ? 1 : 0;
        worst = std::max(worst, std::abs(sum[entry(chunk, from, to)] - wanted));
      }
    }
  }
  return worst;
}

/// A(S) by its definition.
inline double amplification(const GradientCode& code, const Combination& combination) {
  const auto G = dense(code);
  const auto a = weights(combination, code.workers());
  double worst = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(code.chunks); ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i]) * std::abs(G[i][j]);
    worst = std::max(worst, sum);
  }
  return worst;
}

}  // namespace paceline::testing
