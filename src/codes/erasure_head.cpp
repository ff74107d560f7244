// ErasureHead: fractional repetition that does not wait. Groups of r workers send the same sum; a
// round ends as soon as every group has answered once, or n - s workers have, and groups that have
// not answered are left out. Nothing is rescaled, which is the best that can be done.
//
// Source: wang2019erasurehead. Differs: one chunk per group instead of r.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

/// The divisor of n nearest to `value` (the smaller of two) among 2 ... n/2; 0: there is none.
int nearest_divisor(int n, int value) {
  int best = 0;
  for (int d = 2; 2 * d <= n; ++d) {
    if (n % d == 0 && (best == 0 || std::abs(d - value) < std::abs(best - value))) best = d;
  }
  return best;
}

constexpr int kReplication = 3;

bool erasure_head_exists(int workers, int stragglers) {
  const int r = nearest_divisor(workers, kReplication);
  return r > 0 && workers - stragglers >= workers / r;
}

std::vector<std::string> erasure_head_settings(int workers, int most_holders) {
  std::vector<std::string> settings;
  for (int r = 1; r <= most_holders; ++r) {
    if (workers % r == 0) settings.push_back(fmt::format("r={}", r));
  }
  return settings;
}

/// a = 1 for the first answer of every group.
WeightDecoder first_of_each_group(int replication) {
  return [replication](const WorkerSet& answered, std::vector<double>& a) {
    int last_group = -1;
    answered.for_each([&](WorkerId worker) {
      const int group = worker.value / replication;
      if (group == last_group) return;
      a[worker.index()] = 1;
      last_group = group;
    });
  };
}

Expected<GradientCode> make_erasure_head(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const int nearest = nearest_divisor(n, kReplication);
  if (nearest == 0 && !parameters.has("r")) {
    return invalid(fmt::format(
        "erasurehead: no groups of equal size 2 ... n/2 on {} workers; the nearest numbers are {}",
        n,
        nearest_that_fit(n, 2 * n + 4, [](int m) { return nearest_divisor(m, 2) > 0; })));
  }
  const int r = parameters.integer("r", 1, n, std::max(nearest, 1));
  if (n % r != 0) {
    int below = r;
    while (n % below != 0) --below;
    int above = r;
    while (n % above != 0) ++above;
    return invalid(fmt::format(
        "erasurehead: r = {} does not divide {} workers; {} and {} do", r, n, below, above));
  }
  const int groups = n / r;
  if (parameters.has("s") && n - tolerance.stragglers < groups) {
    return invalid(fmt::format(
        "erasurehead: s = {} ends a round on {} answers, but there are {} groups, so that some are "
        "always left out; at most s = {}",
        tolerance.stragglers,
        n - tolerance.stragglers,
        groups,
        n - groups));
  }
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(groups));
  for (int i = 0; i < n; ++i) holders[static_cast<std::size_t>(i / r)].push_back(i);
  const auto complete = [groups, r](const WorkerSet& answered) {
    int count = 0;
    int last_group = -1;
    answered.for_each([&](WorkerId worker) {
      count += worker.value / r != last_group ? 1 : 0;
      last_group = worker.value / r;
    });
    return count == groups;
  };
  const SharedMatrix G = plain_sums(n, holders);
  const DecoderChoice choice =
      read_decoder(parameters, G, 1, {"groups", {first_of_each_group(r), true}});
  return finish_approximate({"erasurehead", G, choice.decoder, tolerance, complete});
}

}  // namespace

CodeEntry erasure_head_entry() {
  std::vector<CodeParameter> own = {
      {"r", "r divides n", "workers per group (the divisor nearest to 3)"}};
  for (CodeParameter& parameter : decoder_parameters("groups", "one answer of every group")) {
    own.push_back(std::move(parameter));
  }
  return {{.name = "erasurehead",
           .summary = "groups of r send the same sum; groups that have not answered are left out",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n",
           .source = "Wang, Charles, Papailiopoulos, ErasureHead (2019)"},
          make_erasure_head,
          erasure_head_exists,
          erasure_head_settings};
}

}  // namespace paceline
