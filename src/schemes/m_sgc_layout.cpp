#include "schemes/m_sgc_layout.hpp"

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

/// The row of a code whose chunk 0 is chunk `first` of the job.
Row shifted(const Row& row, int first) {
  std::vector<Term> terms(row.terms().begin(), row.terms().end());
  for (Term& term : terms) term.chunk.value += first;
  return Row(std::move(terms));
}

}  // namespace

MSgcLayout make_m_sgc_layout(const MSgcParameters& parameters, SharedCode code) {
  const int n = parameters.workers;
  const int pieces = n * (parameters.W - 1);
  PACELINE_CHECK((code == nullptr) == (parameters.lambda == n));

  MSgcLayout layout;
  double group_size = 0;
  if (code == nullptr) {
    layout.data_load = 1.0 / pieces;
  } else {
    layout.coded_load = message_costs(*code);
    const double c = *std::ranges::max_element(layout.coded_load);
    group_size = 1 / (pieces * c + parameters.B);
    layout.data_load = c * group_size;
    for (double& load : layout.coded_load) load *= group_size;
  }

  layout.chunk_size.assign(static_cast<std::size_t>(pieces), layout.data_load);
  for (int piece = 0; piece < pieces; ++piece) {
    layout.data_rows.push_back(Row({Term{ChunkId{piece}}}));
  }
  for (int q = 0; code != nullptr && q < parameters.B; ++q) {
    const int first = static_cast<int>(layout.chunk_size.size());
    for (const Row& row : code->rows) layout.coded_rows.push_back(shifted(row, first));
    for (const double size : code->chunk_size) layout.chunk_size.push_back(size * group_size);
  }
  layout.code = std::move(code);
  return layout;
}

}  // namespace paceline
