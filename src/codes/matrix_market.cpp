// Codes as matrices for people and other programs.
#include <fmt/format.h>

#include <complex>
#include <iterator>
#include <utility>
#include <vector>

#include "codes/complex_matrix.hpp"
#include "paceline/code_measure.hpp"

namespace paceline {

SparseComplexMatrix complex_matrix(const GradientCode& code) {
  using Complex = std::complex<double>;
  std::vector<Eigen::Triplet<Complex>> entries;
  for (int i = 0; i < code.workers(); ++i) {
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      const bool real = term.part == kWhole || (term.part == 0 && term.segment == 0);
      const bool imaginary = term.part == 0 && term.segment == 1;
      if (!real && !imaginary) continue;
      for (int j = term.chunk.value; j < term.chunk.value + term.count; ++j) {
        entries.emplace_back(i, j, real ? Complex(term.weight) : Complex(0, term.weight));
      }
    }
  }
  SparseComplexMatrix G(code.workers(), code.chunks);
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

std::string matrix_market(const GradientCode& code) {
  const SparseComplexMatrix G = complex_matrix(code);
  const bool complex = code.parts == 2;
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
  std::string text;
  for (Eigen::Index i = 0; i < G.rows(); ++i) {
    for (Eigen::Index j = 0; j < G.cols(); ++j) {
      text += G(i, j) == 0.0 ? '.' : G(i, j) == 1.0 ? '1' : 'x';
    }
    text += '\n';
  }
  return text;
}

}  // namespace paceline
