// Cyclic repetition in column form: a random null space (see null_space.hpp), and column j of G on
// the s+1 workers j-s, ..., j. The published form draws the rows and has to find a decode vector
// and a null space from an SVD, which costs digits.
//
// How well a draw behaves is luck, so a few are scored on the same straggler sets and the best is
// kept.
#include "codes/cyclic_repetition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "codes/amplification_limit.hpp"
#include "codes/code_quality.hpp"
#include "codes/cyclic_band.hpp"
#include "codes/null_space.hpp"
#include "codes/parameters.hpp"
#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

struct Band {
  Eigen::MatrixXd null_space;  // shape (s, n), orthonormal rows: least-norm beta = least-norm a
  Eigen::MatrixXd columns;     // shape (s+1, n): column j of G in order of t
};

/// Fills band.columns from band.null_space; false if a window is singular.
bool solve_columns(Band& band) {
  const auto s = static_cast<int>(band.null_space.rows());
  const auto n = static_cast<int>(band.null_space.cols());
  band.columns.resize(s + 1, n);
  std::vector<int> holders(static_cast<std::size_t>(s) + 1);
  for (int j = 0; j < n; ++j) {
    for (int t = 0; t <= s; ++t) {
      holders[static_cast<std::size_t>(t)] = static_cast<int>(band_worker(n, s, j, t));
    }
    band.columns.col(j) = column_on(band.null_space, holders);
  }
  return band.columns.allFinite();
}

Combination combine(const Band& band, const WorkerSet& answered) {
  std::vector<int> stragglers;
  for (int i = 0; i < answered.workers(); ++i) {
    if (!answered.contains(WorkerId{i})) stragglers.push_back(i);
  }
  const std::vector<double> a = vanishing_weights(band.null_space, stragglers);
  const BandCheck check = check_band(a, static_cast<int>(band.null_space.rows()), [&](int j) {
    return band.columns.col(j).data();
  });
  Combination combination;
  combination.residual = check.residual;
  combination.amplification = check.amplification;
  for (int i = 0; i < answered.workers(); ++i) {
    const double weight = a[static_cast<std::size_t>(i)];
    if (weight != 0) combination.terms.push_back({WorkerId{i}, weight});
  }
  return combination;
}

/// How many draws the search can afford: well below a second of multiply-adds, at least one.
int affordable_draws(int workers, int stragglers, const StragglerSample& sample, int wanted) {
  constexpr double kBudget = 8e8;
  constexpr double kOverhead = 2000;  // of a solve, whatever its size
  const double s = stragglers;
  const double one_solve = s * s * s / 3 + 2 * s * workers + kOverhead;
  const auto sets = static_cast<double>(sample.typical.size() + sample.together.size());
  const double one_draw = one_solve * (workers + sets);
  return static_cast<int>(std::clamp(kBudget / one_draw, 1.0, static_cast<double>(wanted)));
}

}  // namespace

std::optional<GradientCode> cyclic_repetition_from(const Eigen::MatrixXd& null_space) {
  const auto s = static_cast<int>(null_space.rows());
  const auto n = static_cast<int>(null_space.cols());
  PACELINE_CHECK(s >= 1 && s <= n - 2);
  auto band = std::make_shared<Band>();
  band->null_space = orthonormal_rows(null_space);
  if (!solve_columns(*band)) return std::nullopt;

  GradientCode code;
  code.name = "cyclic";
  code.chunks = n;
  code.tolerance = s;
  code.load = static_cast<double>(s + 1) / n;
  code.chunk_size.assign(static_cast<std::size_t>(n), 1.0 / n);
  for (int i = 0; i < n; ++i) {
    std::vector<Term> terms;
    for (int t = s; t >= 0; --t) {  // worker i is entry t of column i + s - t
      const int chunk = (i + s - t) % n;
      terms.push_back({ChunkId{chunk}, band->columns(t, chunk)});
    }
    code.rows.emplace_back(std::move(terms));
  }
  code.decode = [band = std::shared_ptr<const Band>(band)](const WorkerSet& answered) {
    return std::optional(combine(*band, answered));
  };
  return code;
}

GradientCode bare_cyclic_repetition(const CyclicRepetitionOptions& options) {
  constexpr int kScoredSets = 100;
  const int n = options.workers;
  const int s = options.stragglers;
  const StragglerSample sample = sample_survivors(n, s, kScoredSets);
  const int draws = affordable_draws(n, s, sample, options.draws);
  std::optional<GradientCode> best;
  double best_score = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < draws || !best; ++draw) {
    RandomStream random(options.seed, "cyclic-repetition", static_cast<std::uint64_t>(draw));
    std::optional<GradientCode> code = cyclic_repetition_from(draw_null_space(n, s, random));
    if (!code) continue;
    if (draws == 1) return *std::move(code);  // nothing to choose from
    const double score = quality_on(*code, sample).p95_amplification;
    if (!best || score < best_score) {
      best_score = score;
      best = std::move(code);
    }
  }
  return *std::move(best);
}

Expected<GradientCode> make_cyclic_repetition(const CyclicRepetitionOptions& options) {
  const int n = options.workers;
  const int s = options.stragglers;
  if (const Expected<void> legal = check_workers_and_stragglers(n, s); !legal) {
    return Unexpected(legal.error());
  }
  if (options.draws < 1) {
    return invalid(fmt::format("draws = {}: at least 1 must be scored", options.draws));
  }
  const Expected<double> limit = resolve_amplification_limit(options.amplification_limit);
  if (!limit) return Unexpected(limit.error());
  if (s == 0 || s == n - 1) return plain_code("cyclic", n, s);
  return limit_amplification(bare_cyclic_repetition(options), *limit);
}

}  // namespace paceline
