// Reed-Solomon gradient code: any number of chunks, each on s+1 neighbours, one block of neighbours
// after the other around the ring, so that loads differ by one chunk at most. The weights and the
// closed-form decoding are those of the cyclic MDS code on the same nodes.
//
// Source: halbawi2018improving. Differs: strided nodes, weights scaled so that decoding without
// stragglers is a plain sum.
#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "codes/code_entry.hpp"
#include "codes/cyclic_mds.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"
#include "codes/random_columns.hpp"

namespace paceline {
namespace {

Expected<GradientCode> make_reed_solomon(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  const int k = read_chunks(parameters, n);
  if (!parameters.ok()) return invalid("reed-solomon: wrong parameters");
  if (s == 0 || s == n - 1) {
    if (parameters.has("chunks")) {
      return invalid(fmt::format(
          "reed-solomon: with s = {} of {} workers nothing is coded; leave chunks= away", s, n));
    }
    return plain_code("reed-solomon", n, s);
  }
  std::vector<int> last;
  for (int j = 0; j < k; ++j) {
    last.push_back(static_cast<int>((std::int64_t{j} * (s + 1) + s) % n));
  }
  GradientCode code = bare_node_code(n, s, best_stride(n, s), std::move(last));
  code.name = "reed-solomon";
  return promise(std::move(code), context.keep_promise, context.message_type);
}

}  // namespace

CodeEntry reed_solomon_entry() {
  return {{.name = "reed-solomon",
           .summary = "any number of chunks, balanced to one chunk; complex weights, closed form",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1", "stragglers tolerated"},
                          {"chunks", "chunks >= 1", "k (n)"}},
           .load = "ceil(k(s+1)/n)/k, two backward passes",
           .source = "Halbawi, Azizan, Salehi, Hassibi, Improving Distributed Gradient Descent "
                     "Using Reed-Solomon Codes (2018)"},
          make_reed_solomon,
          exists_always};
}

}  // namespace paceline
