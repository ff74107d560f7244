// Stochastic block code: between repetition, which is best when stragglers are random but falls to
// whoever knows the groups, and the Bernoulli code. Workers and chunks belong to hidden blocks; a
// worker holds a chunk of its own block with a high probability, and one of another block with a
// low one. To find the blocks in the code is community detection.
//
// Source: charles2018gradient. Differs: columns without a holder are drawn anew unless covered=no.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

/// The smallest divisor of n that is at least r.
int default_block(int n, int r) {
  int block = std::min(std::max(r, 1), n);
  while (n % block != 0) ++block;
  return block;
}

std::vector<std::vector<int>> draw(
    int n, int block, double inside, double across, bool covered, RandomStream& random) {
  const std::vector<int> workers = random.permutation(n);  // label: place / block
  const std::vector<int> chunks = random.permutation(n);
  std::vector<std::vector<int>> columns(static_cast<std::size_t>(n));
  for (int c = 0; c < n; ++c) {
    std::vector<int>& holders =
        columns[static_cast<std::size_t>(chunks[static_cast<std::size_t>(c)])];
    do {
      for (int w = 0; w < n; ++w) {
        const double probability = w / block == c / block ? inside : across;
        if (random.uniform() < probability) {
          holders.push_back(workers[static_cast<std::size_t>(w)]);
        }
      }
    } while (covered && holders.empty());
    std::ranges::sort(holders);
  }
  return columns;
}

Expected<GradientCode> make_stochastic_block(ParameterText& parameters,
                                             const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const double r = parameters.number("r", 1, n, std::min(3, n));
  const int block = parameters.integer("block", 1, n, default_block(n, static_cast<int>(r)));
  if (n % block != 0) {
    int near = block;  // the divisor above; n itself is one
    while (n % near != 0) ++near;
    parameters.fail(fmt::format("block={} does not divide {} workers; {} does", block, n, near));
  }
  const double most = std::min(1.0, r / block);
  const double least = r / n;
  const double inside =
      parameters.number("inside", least, most, block == n ? most : std::max(least, 0.9 * most));
  const double across = block == n ? 0 : (r - block * inside) / (n - block);
  const bool covered = read_yes_or_no(parameters, "covered", true);
  if (across > inside * (1 + 1e-12)) {
    parameters.fail(
        fmt::format("inside={} is below the probability {:.3g} that is left for the "
                    "other blocks; take at least {:.3g}",
                    inside,
                    across,
                    least));
  }
  if (!parameters.ok()) return invalid("stochastic-block: wrong parameters");

  RandomStream random(context.seed, "stochastic-block");
  const SharedMatrix G = plain_sums(n, draw(n, block, inside, across, covered, random));
  const DecoderChoice choice = read_decoder(parameters, G, r);
  return finish_approximate({"stochastic-block", G, choice.decoder, tolerance});
}

}  // namespace

CodeEntry stochastic_block_entry() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n", "workers that hold a chunk, on average (3)"},
      {"block", "block divides n", "workers and chunks of a hidden block"},
      {"inside",
       "r/n <= inside <= min(1, r/block)",
       "probability to hold a chunk of the own block (0.9 r/block); the rest goes to the others"},
      {"covered", "yes|no", "draw until every chunk has a holder (yes)"}};
  for (CodeParameter& parameter : decoder_parameters()) own.push_back(std::move(parameter));
  return {{.name = "stochastic-block",
           .summary = "hidden blocks: chunks of the own block with a high probability, others with "
                      "a low one",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n on average",
           .source = "Charles, Papailiopoulos, Gradient Coding via the Stochastic Block Model "
                     "(2018)"},
          make_stochastic_block,
          exists_always};
}

}  // namespace paceline
