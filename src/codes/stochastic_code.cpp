// Stochastic gradient coding: nothing is decoded. Chunk j lies on r_j workers with the weight
// 1 / (r_j (1-p)), and whatever arrives is added up: right on average if workers straggle with
// probability p, with 1/r of the variance that no redundancy has. The chunks of any two are held
// together by r_i r_j / n workers, exactly (base=q, orthogonal arrays) or on average.
//
// Source: bitar2020stochastic.
#include <fmt/format.h>

#include <utility>

#include "codes/finite_field.hpp"
#include "codes/random_columns.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

/// u with q^u = n, or 0.
int logarithm(int n, int q) {
  int u = 0;
  for (; n > 1 && n % q == 0; n /= q) ++u;
  return n == 1 ? u : 0;
}

/// Workers are the vectors of Z_q^u, chunks the linear forms up to a factor, held where they are 0.
std::vector<std::vector<int>> zeros_of_linear_forms(int n, int q) {
  std::vector<std::vector<int>> holders;
  for (int form = 1; form < n; ++form) {
    int leading = form;  // the first digit that is not 0; normalized: 1
    while (leading % q == 0) leading /= q;
    if (leading % q != 1) continue;
    std::vector<int> zeros;
    for (int x = 0; x < n; ++x) {
      int value = 0;
      for (int f = form, y = x; f > 0; f /= q, y /= q) value += f % q * (y % q);
      if (value % q == 0) zeros.push_back(x);
    }
    holders.push_back(std::move(zeros));
  }
  return holders;
}

Expected<GradientCode> make_stochastic(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const double p = parameters.number("p", 0, 1 - 1e-6, 0.1);
  const int base = parameters.integer("base", 2, n < 2 ? 2 : n, 2);
  const bool array = parameters.has("base");
  const int r = parameters.integer("r", 1, n, std::min(3, n));
  const int k = read_chunks(parameters, n);
  std::vector<std::vector<int>> holders;
  if (array) {
    if (parameters.has("r") || parameters.has("chunks")) {
      parameters.fail("base=q fixes r = n/q and k = (n-1)/(q-1); give base= or these");
    }
    if (prime_power(base).exponent != 1) {
      parameters.fail(fmt::format("base={} is no prime", base));
    } else if (logarithm(n, base) < 1) {
      int below = base;
      while (below * base <= n) below *= base;
      parameters.fail(fmt::format("base={} needs a power of it as workers, not {}; {} or {}",
                                  base,
                                  n,
                                  below,
                                  below * base));
    } else {
      holders = zeros_of_linear_forms(n, base);
    }
  } else {
    RandomStream random(context.seed, "stochastic");
    for (int j = 0; j < k; ++j) holders.push_back(random_subset(n, r, random));
  }
  if (!parameters.ok()) return invalid("stochastic: wrong parameters");
  SparseMatrix G = *plain_sums(n, holders);
  const auto replication = static_cast<double>(holders.front().size());
  G *= 1 / (replication * (1 - p));
  const double width = G.sum() / n;
  const auto shared = std::make_shared<const SparseMatrix>(std::move(G));
  const DecoderChoice choice =
      read_decoder(parameters, shared, width, {"sum", {fixed_weight(1), false}});
  return finish_approximate({"stochastic", shared, choice.decoder, tolerance});
}

}  // namespace

CodeEntry stochastic_entry() {
  std::vector<CodeParameter> own = {
      {"p", "0 <= p < 1", "probability to straggle (0.1)"},
      {"r", "1 <= r <= n", "workers that hold a chunk, a random set (3)"},
      {"chunks", "chunks >= 1", "k (n)"},
      {"base", "a prime q, n a power of it", "orthogonal array instead: r = n/q"}};
  for (CodeParameter& parameter : decoder_parameters("sum", "what comes is added up, unbiased")) {
    own.push_back(std::move(parameter));
  }
  return {{.name = "stochastic",
           .summary = "nothing is decoded: what comes is added up, right on average",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n on average",
           .source = "Bitar, Wootters, El Rouayheb, Stochastic Gradient Coding for Straggler "
                     "Mitigation (2020)"},
          make_stochastic,
          exists_always,
          no_settings};
}

}  // namespace paceline
