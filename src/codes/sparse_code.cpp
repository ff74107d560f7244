#include "codes/sparse_code.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

Combination combine(const ApproximateCode& parts, const WorkerSet& answered) {
  std::vector<double> a(static_cast<std::size_t>(answered.workers()), 0.0);
  if (!answered.empty()) parts.decoder(answered, a);
  DecodedWeights decoded = decoded_weights(*parts.G, a);
  if (decoded.residual > 1) {
    const double factor = best_factor(decoded.x);
    for (double& weight : a) weight *= factor;
    decoded = decoded_weights(*parts.G, a);
  }
  Combination combination;
  combination.residual = decoded.residual;
  combination.amplification = std::max(1.0, decoded.amplification);
  combination.terms.reserve(static_cast<std::size_t>(answered.size()));
  for (int i = 0; i < answered.workers(); ++i) {
    const double weight = a[static_cast<std::size_t>(i)];
    if (weight == 0 || parts.G->row(i).nonZeros() == 0) continue;  // no chunks: no message
    PACELINE_CHECK(answered.contains(WorkerId{i}));
    combination.terms.push_back({WorkerId{i}, weight});
  }
  return combination;
}

}  // namespace

SharedMatrix plain_sums(int workers, const std::vector<std::vector<int>>& holders) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t j = 0; j < holders.size(); ++j) {
    for (const int i : holders[j]) entries.emplace_back(i, static_cast<int>(j), 1.0);
  }
  auto G = std::make_shared<SparseMatrix>(workers, static_cast<Eigen::Index>(holders.size()));
  G->setFromTriplets(entries.begin(), entries.end());
  return G;
}

DecodedWeights decoded_weights(const SparseMatrix& G, const std::vector<double>& a) {
  DecodedWeights decoded;
  decoded.x.assign(static_cast<std::size_t>(G.cols()), 0.0);
  std::vector<double> magnitude(decoded.x.size(), 0.0);
  for (Eigen::Index i = 0; i < G.rows(); ++i) {
    const double weight = a[static_cast<std::size_t>(i)];
    if (weight == 0) continue;
    for (SparseMatrix::InnerIterator entry(G, i); entry; ++entry) {
      const auto j = static_cast<std::size_t>(entry.col());
      decoded.x[j] += weight * entry.value();
      magnitude[j] += std::abs(weight * entry.value());
    }
  }
  for (const double x : decoded.x) decoded.residual += (x - 1) * (x - 1);
  decoded.residual /= static_cast<double>(G.cols());
  decoded.amplification = *std::ranges::max_element(magnitude);
  return decoded;
}

double best_factor(const std::vector<double>& x) {
  double sum = 0;
  double squares = 0;
  for (const double value : x) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum / squares : 0;
}

GradientCode finish_approximate(ApproximateCode parts) {
  const auto shared = std::make_shared<const ApproximateCode>(std::move(parts));
  const SparseMatrix& G = *shared->G;
  const int n = static_cast<int>(G.rows());
  const int k = static_cast<int>(G.cols());
  const auto [s, most_residual] = shared->tolerance;

  GradientCode code;
  code.name = shared->name;
  code.exact = false;
  code.chunks = k;
  code.tolerance = s;
  code.chunk_size.assign(static_cast<std::size_t>(k), 1.0 / k);
  for (Eigen::Index i = 0; i < n; ++i) {
    std::vector<Term> terms;
    for (SparseMatrix::InnerIterator entry(G, i); entry; ++entry) {
      terms.push_back({ChunkId{static_cast<int>(entry.col())}, entry.value()});
    }
    code.load = std::max(code.load, static_cast<double>(terms.size()) / k);
    code.rows.emplace_back(std::move(terms));
  }

  const auto cached = cached_decoder(
      [shared](const WorkerSet& answered) { return std::optional(combine(*shared, answered)); });
  const bool bounded = most_residual < 1;
  const auto enough = [shared, cached, n, s = s, bounded, most_residual = most_residual](
                          const WorkerSet& answered) {
    PACELINE_CHECK(answered.workers() == n);
    const int missing = n - answered.size();
    if (missing == 0 || (shared->complete && shared->complete(answered))) return true;
    return missing <= s && (!bounded || cached(answered)->residual <= most_residual);
  };
  code.decodable = enough;
  code.decode = [enough, cached](const WorkerSet& answered) {
    return enough(answered) ? cached(answered) : std::nullopt;
  };
  if (!bounded && !shared->complete) {
    code.first_decodable = [count = n - s](Arrivals& arrivals) { return arrivals.nth(count); };
  }
  return code;
}

}  // namespace paceline
