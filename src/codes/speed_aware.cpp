// Heterogeneity-aware code: every chunk on s+1 workers, but fast workers hold more chunks, so that
// all finish at the same time. On any such assignment the weights of a random null space (see
// null_space.hpp) decode from any n-s answers.
//
// Source: wang2019heterogeneity. Differs: normal weights with the all-ones decoding without
// stragglers, and the best of several draws.
#include "codes/speed_aware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "codes/code_entry.hpp"
#include "codes/code_quality.hpp"
#include "codes/null_space.hpp"
#include "codes/number_list.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"
#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

struct Weighted {
  Eigen::MatrixXd null_space;  // shape (s, n), orthonormal rows
  SparseMatrix G;
};

std::optional<SparseMatrix> solve_columns(const Eigen::MatrixXd& null_space,
                                          const std::vector<std::vector<int>>& holders) {
  const Eigen::Index s = null_space.rows();
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t j = 0; j < holders.size(); ++j) {
    const Eigen::VectorXd column = column_on(null_space, holders[j]);
    if (!column.allFinite()) return std::nullopt;
    for (Eigen::Index t = 0; t <= s; ++t) {
      entries.emplace_back(holders[j][static_cast<std::size_t>(t)], static_cast<int>(j), column[t]);
    }
  }
  SparseMatrix G(null_space.cols(), static_cast<Eigen::Index>(holders.size()));
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

Combination combine(const Weighted& code, const WorkerSet& answered) {
  std::vector<int> stragglers;
  answered.complement().for_each([&](WorkerId worker) { stragglers.push_back(worker.value); });
  const std::vector<double> a = vanishing_weights(code.null_space, stragglers);
  const DecodedWeights decoded = decoded_weights(code.G, a);
  Combination combination;
  combination.residual = decoded.residual;
  combination.amplification = decoded.amplification;
  answered.for_each([&](WorkerId worker) {
    const bool sends = code.G.row(worker.value).nonZeros() > 0;
    if (sends && a[worker.index()] != 0) combination.terms.push_back({worker, a[worker.index()]});
  });
  return combination;
}

GradientCode bare_code(Weighted weighted, const std::vector<int>& held) {
  const auto shared = std::make_shared<const Weighted>(std::move(weighted));
  const auto k = static_cast<int>(shared->G.cols());
  GradientCode code;
  code.name = "speed-aware";
  code.chunks = k;
  code.tolerance = static_cast<int>(shared->null_space.rows());
  code.load = static_cast<double>(*std::ranges::max_element(held)) / k;
  code.chunk_size.assign(static_cast<std::size_t>(k), 1.0 / k);
  for (Eigen::Index i = 0; i < shared->G.rows(); ++i) {
    std::vector<Term> terms;
    for (SparseMatrix::InnerIterator entry(shared->G, i); entry; ++entry) {
      terms.push_back({ChunkId{static_cast<int>(entry.col())}, entry.value()});
    }
    code.rows.emplace_back(std::move(terms));
  }
  code.decode = [shared](const WorkerSet& answered) {
    return std::optional(combine(*shared, answered));
  };
  return code;
}

Expected<GradientCode> make_speed_aware(ParameterText& parameters, const CodeContext& context) {
  constexpr int kDraws = 20;
  constexpr int kScoredSets = 100;
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  const int k = read_chunks(parameters, n);
  const std::vector<double> speeds = read_numbers(parameters, "speeds", n, 1e-9, 1e9, 1);
  if (!parameters.ok()) return invalid("speed-aware: wrong parameters");
  if (s == 0 || s == n - 1) {
    return invalid(fmt::format(
        "speed-aware: needs 1 <= s <= n-2 = {}; the nearest is {}", n - 2, s == 0 ? 1 : n - 2));
  }
  const Expected<std::vector<int>> held = chunks_by_speed(speeds, k, s);
  if (!held) return Unexpected(held.error());
  const std::vector<std::vector<int>> holders = holders_around_the_ring(*held, k);

  const StragglerSample sample = sample_survivors(n, s, kScoredSets);
  std::optional<GradientCode> best;
  double least = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < (context.keep_promise ? kDraws : 1) || !best; ++draw) {
    RandomStream random(context.seed, "speed-aware", static_cast<std::uint64_t>(draw));
    const Eigen::MatrixXd null_space = orthonormal_rows(draw_null_space(n, s, random));
    std::optional<SparseMatrix> G = solve_columns(null_space, holders);
    if (!G) continue;
    GradientCode code = bare_code({null_space, *std::move(G)}, *held);
    const double score = quality_on(code, sample).p95_amplification;
    if (best && score >= least) continue;
    least = score;
    best = std::move(code);
  }
  return promise(*std::move(best), context.keep_promise, context.message_type);
}

}  // namespace

Expected<std::vector<int>> chunks_by_speed(const std::vector<double>& speeds,
                                           int chunks,
                                           int stragglers) {
  const double total = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const double fastest = *std::ranges::max_element(speeds);
  if (fastest * (stragglers + 1) > total * (1 + 1e-12)) {
    return invalid(
        fmt::format("speed-aware: a worker of speed {} would need more than all chunks; the speed "
                    "must be at most 1/(s+1) = 1/{} of the sum {}: at most {:.6g}",
                    fastest,
                    stragglers + 1,
                    total,
                    (total - fastest) / stragglers));
  }
  std::vector<int> held;
  int missing = chunks * (stragglers + 1);
  for (const double speed : speeds) {
    held.push_back(std::min(
        chunks, static_cast<int>(std::floor(chunks * (stragglers + 1) * speed / total + 1e-9))));
    missing -= held.back();
  }
  for (; missing > 0; --missing) {
    std::size_t first = held.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < held.size(); ++i) {
      const double time = (held[i] + 1) / speeds[i];
      if (held[i] == chunks || time >= least) continue;
      least = time;
      first = i;
    }
    PACELINE_CHECK(first < held.size());
    ++held[first];
  }
  return held;
}

std::vector<std::vector<int>> holders_around_the_ring(const std::vector<int>& held, int chunks) {
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(chunks));
  int next = 0;
  for (int i = 0; i < static_cast<int>(held.size()); ++i) {
    for (int c = 0; c < held[static_cast<std::size_t>(i)]; ++c) {
      holders[static_cast<std::size_t>(next)].push_back(i);
      next = (next + 1) % chunks;
    }
  }
  return holders;
}

CodeEntry speed_aware_entry() {
  return {{.name = "speed-aware",
           .summary = "fast workers hold more chunks, every chunk s+1 workers; all finish together",
           .exact = true,
           .parameters = {{"s", "1 <= s <= n-2", "stragglers tolerated"},
                          {"speeds", "numbers > 0", "of the workers: n separated by '/' (1)"},
                          {"chunks", "chunks >= 1", "k (n); more follow the speeds more closely"}},
           .load = "(s+1) c_i / sum c for worker i",
           .source = "Wang, Guo, Tang, Li, Li, Heterogeneity-aware Gradient Coding for Straggler "
                     "Tolerance (2019)"},
          make_speed_aware,
          [](int workers, int stragglers) { return stragglers >= 1 && stragglers <= workers - 2; }};
}

}  // namespace paceline
