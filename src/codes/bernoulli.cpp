// Bernoulli codes: every worker holds every chunk with the same probability, by independent coin
// tosses, and sends the plain sum. An adversary who knows the code finds no structure in it to
// attack; on average over stragglers codes that share the chunks out evenly do better. The
// regularized code takes chunks away from workers that got more than twice their share.
//
// Source: charles2017approximate, sections 3 and 4 (the cut from over 2w chunks to w random ones is
// a reconstruction). Differs: columns without a holder are drawn anew unless covered=no.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using Holders = std::vector<std::vector<int>>;

bool all_covered(const Holders& holders) {
  return std::ranges::none_of(holders, [](const auto& column) { return column.empty(); });
}

/// Takes all but `width` random chunks away from every worker that holds more than 2 width.
void regularize(Holders& holders, int workers, int width, RandomStream& random) {
  std::vector<std::vector<int>> held(static_cast<std::size_t>(workers));
  for (std::size_t j = 0; j < holders.size(); ++j) {
    for (const int i : holders[j]) held[static_cast<std::size_t>(i)].push_back(static_cast<int>(j));
  }
  for (int i = 0; i < workers; ++i) {
    const std::vector<int>& chunks = held[static_cast<std::size_t>(i)];
    const int count = static_cast<int>(chunks.size());
    if (count <= 2 * width) continue;
    const std::vector<int> order = random.permutation(count);
    for (int m = width; m < count; ++m) {
      const int chunk = chunks[static_cast<std::size_t>(order[static_cast<std::size_t>(m)])];
      std::erase(holders[static_cast<std::size_t>(chunk)], i);
    }
  }
}

Expected<GradientCode> make_bernoulli(ParameterText& parameters,
                                      const CodeContext& context,
                                      bool regular) {
  constexpr int kDraws = 1000;
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const int k = read_chunks(parameters, n);
  const double r = parameters.number("r", std::min(1.0, n * 1.0 / k), n, std::min(3, n));
  const bool covered = read_yes_or_no(parameters, "covered", true);
  const double width = r * k / n;

  const std::string name = regular ? "regularized-bernoulli" : "bernoulli";
  RandomStream random(context.seed, name);
  Holders holders;
  for (int draw = 0; draw < kDraws; ++draw) {
    holders = bernoulli_columns(n, k, r / n, covered, random);
    if (regular) regularize(holders, n, std::max(1, static_cast<int>(width)), random);
    if (!covered || all_covered(holders)) break;
  }
  if (covered && !all_covered(holders)) {
    return invalid(fmt::format(
        "{}: r = {} leaves chunks without a holder in each of {} draws; take a larger r, or "
        "covered=no",
        name,
        r,
        kDraws));
  }
  const SharedMatrix G = plain_sums(n, holders);
  const DecoderChoice choice = read_decoder(parameters, G, width);
  return finish_approximate({name, G, choice.decoder, tolerance});
}

std::vector<CodeParameter> own_parameters() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n", "workers that hold a chunk, on average (3)"},
      {"chunks", "chunks >= 1", "k (n)"},
      {"covered", "yes|no", "draw until every chunk has a holder (yes)"}};
  for (CodeParameter& parameter : decoder_parameters()) own.push_back(std::move(parameter));
  return with_tolerance(std::move(own));
}

}  // namespace

CodeEntry bernoulli_entry() {
  return {{.name = "bernoulli",
           .summary = "every worker holds every chunk with probability r/n",
           .exact = false,
           .parameters = own_parameters(),
           .load = "r/n on average",
           .source = "Charles, Papailiopoulos, Ellenberg, Approximate Gradient Coding via Sparse "
                     "Random Graphs (2017)"},
          [](ParameterText& parameters, const CodeContext& context) {
            return make_bernoulli(parameters, context, false);
          },
          exists_always};
}

CodeEntry regularized_bernoulli_entry() {
  return {{.name = "regularized-bernoulli",
           .summary = "bernoulli, but a worker with more than twice its share keeps a random share",
           .exact = false,
           .parameters = own_parameters(),
           .load = "at most 2 r/n",
           .source = "Charles, Papailiopoulos, Ellenberg, Approximate Gradient Coding via Sparse "
                     "Random Graphs (2017)"},
          [](ParameterText& parameters, const CodeContext& context) {
            return make_bernoulli(parameters, context, true);
          },
          exists_always};
}

}  // namespace paceline
