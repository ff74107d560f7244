// Fractional repetition: Q groups of workers and Q chunks; all members of group u send the plain
// gradient of chunk u, so one answer per group decodes, and no answer is ever scaled. Groups of
// sizes floor(n/Q) and ceil(n/Q) make the code exist for every n and s.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "codes/parameters.hpp"
#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/simd.hpp"

namespace paceline {
namespace {

/// groups[u]: the members of group u in ascending order.
using Groups = std::vector<std::vector<WorkerId>>;

Groups form_groups(int workers, int count, bool mixed) {
  Groups groups(static_cast<std::size_t>(count));
  if (mixed) {
    for (int i = 0; i < workers; ++i) groups[WorkerId{i % count}.index()].push_back(WorkerId{i});
    return groups;
  }
  int next = 0;
  for (int u = 0; u < count; ++u) {
    const auto end = static_cast<int>(static_cast<long long>(u + 1) * workers / count);
    for (; next < end; ++next) groups[ChunkId{u}.index()].push_back(WorkerId{next});
  }
  return groups;
}

std::optional<Combination> one_answer_per_group(const Groups& groups, const WorkerSet& answered) {
  Combination combination;
  combination.terms.reserve(groups.size());
  for (const std::vector<WorkerId>& group : groups) {
    const auto first =
        std::ranges::find_if(group, [&](WorkerId worker) { return answered.contains(worker); });
    if (first == group.end()) return std::nullopt;
    combination.terms.push_back({*first});
  }
  return combination;
}

bool every_group_answered(const Groups& groups, const WorkerSet& answered) {
  return std::ranges::all_of(groups, [&](const std::vector<WorkerId>& group) {
    return std::ranges::any_of(group, [&](WorkerId worker) { return answered.contains(worker); });
  });
}

/// The same for the groups {i : i = u (mod groups)}: few groups miss their first member, and only
/// those are looked at.
bool every_mixed_group_answered(int groups, const WorkerSet& answered) {
  const std::span<const std::uint64_t> words = answered.words();
  for (int first = 0; first < groups; first += 64) {
    std::uint64_t missing = ~words[static_cast<std::size_t>(first / 64)];
    if (groups - first < 64) missing &= (std::uint64_t{1} << (groups - first)) - 1;
    for (; missing != 0; missing &= missing - 1) {
      int member = first + std::countr_zero(missing);
      do {
        member += groups;
        if (member >= answered.workers()) return false;
      } while (!answered.contains(WorkerId{member}));
    }
  }
  return true;
}

/// first[u] = the least time of the workers i = u (mod groups).
PACELINE_SIMD void least_per_group(const double* times,
                                   std::size_t n,
                                   double* first,
                                   std::size_t groups) {
  std::size_t i = 0;
  for (; i + groups <= n; i += groups) {
    for (std::size_t u = 0; u < groups; ++u) {
      first[u] = times[i + u] < first[u] ? times[i + u] : first[u];
    }
  }
  for (; i < n; ++i) first[i % groups] = std::min(first[i % groups], times[i]);
}

/// The last of the first answers of the groups {i : i = u (mod groups)}.
Moment last_of_first_answers(std::size_t groups, const Arrivals& arrivals) {
  if (static_cast<int>(groups) == arrivals.workers()) return arrivals.last();
  static thread_local std::vector<double> first;  // kept so that a round allocates nothing
  const std::span<const double> times = arrivals.times();
  first.assign(groups, kNever.count());
  least_per_group(times.data(), times.size(), first.data(), groups);
  const double last = *std::ranges::max_element(first);
  if (last == kNever.count()) return kAfterAllTime;
  std::size_t worker = 0;
  for (std::size_t u = 0; u < groups; ++u) {
    if (first[u] != last) continue;
    std::size_t i = u;  // the group's first worker with that time
    while (times[i] != last) i += groups;
    worker = std::max(worker, i);
  }
  return {Seconds{last}, static_cast<int>(worker)};
}

}  // namespace

Expected<GradientCode> make_fractional_repetition(const FractionalRepetitionOptions& options) {
  const int n = options.workers;
  if (options.groups < 0 || (options.groups > 0 && n >= 1 && options.groups > n)) {
    return invalid(fmt::format(
        "groups = {}: must be 1 ... {} (the number of workers), or 0 to follow from stragglers",
        options.groups,
        std::max(n, 1)));
  }
  const int stragglers = options.groups > 0 ? 0 : options.stragglers;
  if (const Expected<void> legal = check_workers_and_stragglers(n, stragglers); !legal) {
    return Unexpected(legal.error());
  }
  const int count = options.groups > 0 ? options.groups : n / (stragglers + 1);
  const Groups groups = form_groups(n, count, options.mixed);

  GradientCode code;
  code.name = "repetition";
  code.chunks = count;
  code.tolerance = n / count - 1;  // the smallest group less its last member; at least `stragglers`
  code.load = 1.0 / count;
  code.chunk_size.assign(groups.size(), 1.0 / count);
  code.rows.resize(static_cast<std::size_t>(n));
  for (int u = 0; u < count; ++u) {
    const Row row({Term{ChunkId{u}}});
    for (const WorkerId worker : groups[ChunkId{u}.index()]) code.rows[worker.index()] = row;
  }
  const auto shared = std::make_shared<const Groups>(groups);
  code.decode = [shared, n](const WorkerSet& answered) {
    PACELINE_CHECK(answered.workers() == n);
    return one_answer_per_group(*shared, answered);
  };
  code.decodable = [shared, n, count, mixed = options.mixed](const WorkerSet& answered) {
    PACELINE_CHECK(answered.workers() == n);
    return mixed ? every_mixed_group_answered(count, answered)
                 : every_group_answered(*shared, answered);
  };
  if (options.mixed) {
    code.first_decodable = [count = groups.size()](const Arrivals& arrivals) {
      return last_of_first_answers(count, arrivals);
    };
  }
  return code;
}

}  // namespace paceline
