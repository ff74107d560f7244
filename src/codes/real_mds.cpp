// Real cyclic MDS code: the cyclic code whose left null space is s neighbouring frequencies around
// n/2, so that G is real, circulant and positive. Exists where n and s have different parity. Very
// accurate for scattered stragglers; neighbours that straggle together cost digits.
//
// Source: raviv2018cyclic, section 3.2 (the middle frequencies).
#include "codes/real_mds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "codes/code_entry.hpp"
#include "codes/cyclic_repetition.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"

namespace paceline {
namespace {

bool right_parity(int workers, int stragglers) {
  return (workers - stragglers) % 2 != 0 || stragglers == 0;
}

Expected<GradientCode> make_real_mds(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  if (!parameters.ok()) return invalid("real-mds: wrong parameters");
  if (s == 0 || s == n - 1) return plain_code("real-mds", n, s);
  if (!right_parity(n, s)) {
    return invalid(fmt::format(
        "real-mds: no real cyclic MDS code has n = {} and s = {} of the same parity; s = {} or {}",
        n,
        s,
        s - 1,
        s + 1));
  }
  return promise(bare_real_mds(n, s), context.keep_promise, context.message_type);
}

}  // namespace

GradientCode bare_real_mds(int workers, int stragglers) {
  const int n = workers;
  const int s = stragglers;
  Eigen::MatrixXd rows(s, n);
  Eigen::Index row = 0;
  for (int t = (n - s + 1) / 2; 2 * t <= n; ++t) {
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(std::int64_t{t} * i % n) / n;
      rows(row, i) = std::cos(angle);
      if (2 * t < n) rows(row + 1, i) = std::sin(angle);
    }
    row += 2 * t < n ? 2 : 1;
  }
  GradientCode code = cyclic_repetition_from(rows).value();
  code.name = "real-mds";
  return code;
}

CodeEntry real_mds_entry() {
  return {{.name = "real-mds",
           .summary = "cyclic MDS with real, positive weights, where n and s differ in parity",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1, n - s odd", "stragglers tolerated"}},
           .load = "(s+1)/n",
           .source = "Raviv, Tamo, Tandon, Dimakis, Gradient Coding from Cyclic MDS Codes and "
                     "Expander Graphs (2018)"},
          make_real_mds,
          right_parity};
}

}  // namespace paceline
