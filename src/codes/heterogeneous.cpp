// Code for workers that straggle with different, known probabilities p_i: whoever answers is added
// as it is, and the weights in G make the sum right on average,
//
//     sum over the holders i of chunk j of (1 - p_i) G_ij = 1,
//
// with the least variance there is: G_ij = (1/p_i) / sum over the holders l of (1-p_l)/p_l. A chunk
// then leaves 1 / sum_l (1-p_l)/p_l on average, so chunks are handed out, reliable workers first,
// each to where that sum is least.
//
// That is for chunk gradients that point anywhere (objective=chunks). Where they are aligned, which
// is the worst case, the variance is that of the workers' whole sums (objective=aligned): least,
// 1 / sum_l q_l with q_l = (1-p_l)/p_l, if worker i answers for k q_i / sum_l q_l chunks on
// average. Any weights with these row sums do; laying the shares end to end along the chunks takes
// fewest.
//
// Source: song2025approximate (problem; the closed form and the allocation were derived from it).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "codes/number_list.hpp"
#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

constexpr double kLeast = 1e-6;  // an estimate of 0 would put all of a chunk on one worker

/// Shape (k): the holders of each chunk when every worker takes `width` chunks.
/// @param odds  q_i = (1-p_i)/p_i, shape (n)
std::vector<std::vector<int>> allocate(const std::vector<double>& odds, int chunks, int width) {
  std::vector<int> workers(odds.size());
  std::iota(workers.begin(), workers.end(), 0);
  std::ranges::stable_sort(workers, [&](int i, int l) {
    return odds[static_cast<std::size_t>(i)] > odds[static_cast<std::size_t>(l)];
  });
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(chunks));
  std::vector<double> score(holders.size(), 0.0);
  std::vector<std::size_t> order(holders.size());
  for (const int worker : workers) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t j) { return score[j]; });
    for (int c = 0; c < width; ++c) {
      const std::size_t chunk = order[static_cast<std::size_t>(c)];
      holders[chunk].push_back(worker);
      score[chunk] += odds[static_cast<std::size_t>(worker)];
    }
  }
  return holders;
}

using Entries = std::vector<Eigen::Triplet<double>>;

/// Every worker in turn takes of the chunks, in their order, what is left of them, up to its share.
Entries end_to_end(const std::vector<double>& odds, const std::vector<double>& p, int chunks) {
  const double total = std::accumulate(odds.begin(), odds.end(), 0.0);
  constexpr double kNothing = 1e-12;
  Entries entries;
  int chunk = 0;
  double left = 1;  // of the chunk
  for (std::size_t i = 0; i < odds.size(); ++i) {
    double share = chunks * odds[i] / total;
    while (share > kNothing && chunk < chunks) {
      const double taken = std::min(share, left);
      entries.emplace_back(static_cast<int>(i), chunk, taken / (1 - p[i]));
      share -= taken;
      left -= taken;
      if (left > kNothing) continue;
      ++chunk;
      left = 1;
    }
  }
  return entries;
}

Expected<GradientCode> make_heterogeneous(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const int k = read_chunks(parameters, n);
  const int width = parameters.integer("held", 1, k, std::min(3, k));
  std::vector<double> p = read_numbers(parameters, "p", n, 0, 1 - kLeast, 0.1);
  if (static_cast<std::int64_t>(n) * width < k) {
    return invalid(fmt::format(
        "heterogeneous: {} workers with {} chunks each cannot hold {} chunks; held = {} is the "
        "least",
        n,
        width,
        k,
        (k + n - 1) / n));
  }
  for (double& probability : p) probability = std::max(probability, kLeast);
  std::vector<double> odds;
  for (const double probability : p) odds.push_back((1 - probability) / probability);

  static const std::vector<std::string> kObjectives = {"chunks", "aligned"};
  const bool aligned = parameters.word("objective", kObjectives, "chunks") == "aligned";
  if (aligned && parameters.has("held")) {
    parameters.fail("held= goes with objective=chunks; objective=aligned finds it");
  }
  Entries entries = aligned ? end_to_end(odds, p, k) : Entries();
  const std::vector<std::vector<int>> holders =
      aligned ? std::vector<std::vector<int>>(static_cast<std::size_t>(k))
              : allocate(odds, k, width);
  for (int j = 0; j < k; ++j) {
    double sum = 0;
    for (const int i : holders[static_cast<std::size_t>(j)])
      sum += odds[static_cast<std::size_t>(i)];
    for (const int i : holders[static_cast<std::size_t>(j)]) {
      entries.emplace_back(i, j, 1 / (p[static_cast<std::size_t>(i)] * sum));
    }
  }
  auto G = std::make_shared<SparseMatrix>(n, k);
  G->setFromTriplets(entries.begin(), entries.end());
  const DecoderChoice choice =
      read_decoder(parameters, G, G->sum() / n, {"sum", {fixed_weight(1), false}});
  return finish_approximate({"heterogeneous", G, choice.decoder, tolerance});
}

}  // namespace

CodeEntry heterogeneous_entry() {
  std::vector<CodeParameter> own = {
      {"p", "0 <= p < 1", "probabilities to straggle: one, or n separated by '/' (0.1)"},
      {"objective",
       "chunks|aligned",
       "least variance for chunk gradients that point anywhere, or all the same way (chunks)"},
      {"held", "1 <= held <= k", "chunks per worker (3)"},
      {"chunks", "chunks >= 1", "k (n)"}};
  for (CodeParameter& parameter : decoder_parameters("sum", "what comes is added up, unbiased")) {
    own.push_back(std::move(parameter));
  }
  return {{.name = "heterogeneous",
           .summary = "for workers that straggle with different, known probabilities; unbiased, "
                      "nothing to decode",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "held/k",
           .source = "Song, Choi, Approximate Gradient Coding for Distributed Learning with "
                     "Heterogeneous Stragglers (2025)"},
          make_heterogeneous,
          exists_always,
          no_settings};
}

}  // namespace paceline
