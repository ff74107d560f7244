// Codes as matrices for people and other programs.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <utility>
#include <vector>

#include "codes/complex_matrix.hpp"
#include "paceline/code_measure.hpp"

namespace paceline {
namespace {

/// A gradient's blocks: complex weights on so many pairs of parts, or real ones on the whole.
int blocks_of(const GradientCode& code) { return std::max(1, code.shape.parts / 2); }

}  // namespace

SparseComplexMatrix complex_matrix(const GradientCode& code) {
  using Complex = std::complex<double>;
  const int blocks = blocks_of(code);
  std::vector<Eigen::Triplet<Complex>> entries;
  for (int i = 0; i < code.workers(); ++i) {
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      const bool first_half = term.part == kWhole || term.part % 2 == 0;
      if (!first_half) continue;
      const int block = term.part == kWhole ? 0 : term.part / 2;
      const Complex weight = term.segment == 1 ? Complex(0, term.weight) : Complex(term.weight);
      for (int j = term.chunk.value; j < term.chunk.value + term.count; ++j) {
        entries.emplace_back(i, j * blocks + block, weight);
      }
    }
  }
  SparseComplexMatrix G(code.workers(), code.chunks * blocks);
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

std::string matrix_market(const GradientCode& code) {
  const SparseComplexMatrix G = complex_matrix(code);
  const bool complex = code.shape.parts > 1;
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate {} general\n% code {}\n{} {} {}\n",
                  complex ? "complex" : "real",
                  code.name,
                  G.rows(),
                  G.cols(),
                  G.nonZeros());
  for (Eigen::Index j = 0; j < G.cols(); ++j) {
    for (SparseComplexMatrix::InnerIterator entry(G, j); entry; ++entry) {
      const auto [x, y] = std::pair(entry.value().real(), entry.value().imag());
      fmt::format_to(std::back_inserter(text), "{} {} {}", entry.row() + 1, j + 1, x);
      if (complex) fmt::format_to(std::back_inserter(text), " {}", y);
      text += '\n';
    }
  }
  return text;
}

std::string drawing(const GradientCode& code) {
  const Eigen::MatrixXcd G = complex_matrix(code);
  const Eigen::Index blocks = blocks_of(code);
  std::string text;
  for (Eigen::Index i = 0; i < G.rows(); ++i) {
    for (Eigen::Index j = 0; j < G.cols(); j += blocks) {
      const auto chunk = G.row(i).segment(j, blocks);
      text += (chunk.array() == 0.0).all() ? '.' : (chunk.array() == 1.0).all() ? '1' : 'x';
    }
    text += '\n';
  }
  return text;
}

}  // namespace paceline
