// The baseline without redundancy: worker i sends chunk i, a round goes without s of them, and what
// has come is scaled by n/(n-s). Right on average if all workers straggle alike; the data of one
// that straggles for long are hardly ever seen. It leaves s/(n-s).
//
// Source: tandon2017gradient, the baseline of its experiments ("ignoring stragglers").
#include <utility>
#include <vector>

#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

Expected<GradientCode> make_ignore(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  std::vector<std::vector<int>> holders;
  for (int i = 0; i < n; ++i) holders.push_back({i});
  return finish_approximate({"ignore", plain_sums(n, holders), one_step(n, 1), tolerance});
}

}  // namespace

CodeEntry ignore_entry() {
  return {{.name = "ignore",
           .summary = "no redundancy: what has come is scaled up for what has not",
           .exact = false,
           .parameters = with_tolerance({}),
           .load = "1/n",
           .source = "Tandon, Lei, Dimakis, Karampatziakis, Gradient Coding (2017), baseline"},
          make_ignore,
          exists_always};
}

}  // namespace paceline
