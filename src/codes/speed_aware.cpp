// Heterogeneity-aware code: every chunk on s+1 workers, but fast workers hold more chunks, so that
// all finish at the same time. On any such assignment the weights of a random null space (see
// null_space.hpp) decode from any n-s answers.
//
// With groups=yes, for speeds that are not known exactly, P disjoint groups whose chunks lie side
// by side once around the ring send plain sums, and the rest is coded for s-P stragglers on its
// own: either some group is complete, or every group misses somebody and the rest no more than s-P.
// A round then ends with the first complete group, however many others are missing.
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
#include "codes/worker_groups.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

struct Weighted {
  std::vector<std::vector<int>> groups;
  std::vector<int> rest;       // workers outside of groups
  Eigen::MatrixXd null_space;  // shape (s - groups, rest), orthonormal rows
  SparseMatrix G;              // shape (n, k)
};

/// Draws the weights of the rest; false if this draw has none.
bool draw_weights(const std::vector<std::vector<int>>& holders,
                  int workers,
                  int stragglers,
                  RandomStream& random,
                  Weighted& code) {
  std::vector<int> place(static_cast<std::size_t>(workers), -1);  // in the rest
  for (std::size_t r = 0; r < code.rest.size(); ++r) {
    place[static_cast<std::size_t>(code.rest[r])] = static_cast<int>(r);
  }
  const int s = stragglers - static_cast<int>(code.groups.size());
  if (s > 0) {
    code.null_space =
        orthonormal_rows(draw_null_space(static_cast<int>(code.rest.size()), s, random));
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < static_cast<int>(holders.size()); ++j) {
    std::vector<int> coded;
    std::vector<int> places;
    for (const int i : holders[static_cast<std::size_t>(j)]) {
      const int at = place[static_cast<std::size_t>(i)];
      if (at < 0) {
        entries.emplace_back(i, j, 1.0);
      } else {
        coded.push_back(i);
        places.push_back(at);
      }
    }
    if (coded.empty()) continue;
    const Eigen::VectorXd column = column_on(code.null_space, places);
    if (!column.allFinite()) return false;
    for (std::size_t t = 0; t < coded.size(); ++t) {
      entries.emplace_back(coded[t], j, column[static_cast<Eigen::Index>(t)]);
    }
  }
  code.G = SparseMatrix(workers, static_cast<Eigen::Index>(holders.size()));
  code.G.setFromTriplets(entries.begin(), entries.end());
  return true;
}

std::vector<double> decode_weights_of(const Weighted& code, const WorkerSet& answered) {
  std::vector<double> a(static_cast<std::size_t>(answered.workers()), 0.0);
  if (const std::vector<int>* group = complete_group(code.groups, answered)) {
    for (const int i : *group) a[static_cast<std::size_t>(i)] = 1;
    return a;
  }
  std::vector<int> stragglers;
  for (std::size_t r = 0; r < code.rest.size(); ++r) {
    if (!answered.contains(WorkerId{code.rest[r]})) stragglers.push_back(static_cast<int>(r));
  }
  const std::vector<double> weights = vanishing_weights(code.null_space, stragglers);
  for (std::size_t r = 0; r < code.rest.size(); ++r) {
    a[static_cast<std::size_t>(code.rest[r])] = weights[r];
  }
  return a;
}

Combination combine(const Weighted& code, const WorkerSet& answered) {
  const std::vector<double> a = decode_weights_of(code, answered);
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

GradientCode bare_code(const std::shared_ptr<const Weighted>& shared,
                       int stragglers,
                       const std::vector<int>& held) {
  const auto k = static_cast<int>(shared->G.cols());
  GradientCode code;
  code.name = "speed-aware";
  code.chunks = k;
  code.tolerance = stragglers;
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

/// The code, and what complete groups decode beyond it.
GradientCode or_complete_groups(GradientCode code, const std::shared_ptr<const Weighted>& shared) {
  const auto complete = [shared](const WorkerSet& answered) {
    PACELINE_CHECK(answered.workers() == shared->G.rows());
    return complete_group(shared->groups, answered) != nullptr;
  };
  code.decodable = [complete, without = code.decodable](const WorkerSet& answered) {
    return complete(answered) || without(answered);
  };
  code.decode = [complete, shared, without = code.decode](const WorkerSet& answered) {
    return complete(answered) ? std::optional(combine(*shared, answered)) : without(answered);
  };
  code.first_decodable = nullptr;
  return code;
}

/// The k nearest to `chunks` with which there are groups; 0: none within four times as many.
int nearest_with_groups(const std::vector<double>& speeds, int chunks, int stragglers) {
  for (int distance = 1; distance <= 3 * chunks; ++distance) {
    for (const int k : {chunks - distance, chunks + distance}) {
      if (k < 1) continue;
      const auto held = chunks_by_speed(speeds, k, stragglers);
      if (held && !groups_around_the_ring(*held, k).empty()) return k;
    }
  }
  return 0;
}

Expected<GradientCode> make_speed_aware(ParameterText& parameters, const CodeContext& context) {
  constexpr int kDraws = 20;
  constexpr int kScoredSets = 100;
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  const int k = read_chunks(parameters, n);
  const std::vector<double> speeds = read_numbers(parameters, "speeds", n, 1e-9, 1e9, 1);
  const bool grouped = read_yes_or_no(parameters, "groups", false);
  if (!parameters.ok()) return invalid("speed-aware: wrong parameters");
  if (s == 0 || s == n - 1) {
    return invalid(fmt::format(
        "speed-aware: needs 1 <= s <= n-2 = {}; the nearest is {}", n - 2, s == 0 ? 1 : n - 2));
  }
  const Expected<std::vector<int>> held = chunks_by_speed(speeds, k, s);
  if (!held) return Unexpected(held.error());
  const std::vector<std::vector<int>> holders = holders_around_the_ring(*held, k);
  Weighted blank;
  if (grouped) blank.groups = groups_around_the_ring(*held, k);
  if (grouped && blank.groups.empty()) {
    const int near = nearest_with_groups(speeds, k, s);
    return invalid(fmt::format(
        "speed-aware: groups=yes, but at chunks = {} no workers hold every chunk exactly once{}",
        k,
        near > 0 ? fmt::format("; the nearest chunks = {}", near) : std::string()));
  }
  for (int i = 0; i < n; ++i) {
    if (std::ranges::none_of(blank.groups, [i](const std::vector<int>& group) {
          return std::ranges::binary_search(group, i);
        })) {
      blank.rest.push_back(i);
    }
  }

  const StragglerSample sample = sample_survivors(n, s, kScoredSets);
  std::shared_ptr<const Weighted> best;
  double least = std::numeric_limits<double>::infinity();
  for (int draw = 0; draw < (context.keep_promise ? kDraws : 1) || !best; ++draw) {
    RandomStream random(context.seed, "speed-aware", static_cast<std::uint64_t>(draw));
    auto drawn = std::make_shared<Weighted>(blank);
    if (!draw_weights(holders, n, s, random, *drawn)) continue;
    const double score = quality_on(bare_code(drawn, s, *held), sample).p95_amplification;
    if (best && score >= least) continue;
    least = score;
    best = std::move(drawn);
  }
  Expected<GradientCode> code =
      promise(bare_code(best, s, *held), context.keep_promise, context.message_type);
  if (!code || !grouped) return code;
  return or_complete_groups(*std::move(code), best);
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
                          {"chunks", "chunks >= 1", "k (n); more follow the speeds more closely"},
                          {"groups",
                           "yes|no",
                           "workers that hold all data once send plain sums, enough alone (no)"}},
           .load = "(s+1) c_i / sum c for worker i",
           .source = "Wang, Guo, Tang, Li, Li, Heterogeneity-aware Gradient Coding for Straggler "
                     "Tolerance (2019)"},
          make_speed_aware,
          [](int workers, int stragglers) { return stragglers >= 1 && stragglers <= workers - 2; }};
}

}  // namespace paceline
