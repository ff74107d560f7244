// Product code: worker (i1, i2) of n1 n2 holds chunk (j1, j2) if worker i1 of the left code holds
// j1 and worker i2 of the right code holds j2; its weight is the product of theirs. Makes codes for
// numbers of workers that have no design of their own.
//
// Source: sakorikar2021soft, section 4. Differs: least squares on the product as a whole; the right
// code of copies has one chunk instead of n2 equal ones.
#include <fmt/format.h>

#include <utility>

#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

SparseMatrix matrix_of(const GradientCode& code) {
  SparseMatrix G(code.workers(), code.chunks);
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < code.workers(); ++i) {
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      entries.emplace_back(i, term.chunk.value, term.weight);
    }
  }
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

/// G1 x G2 (Kronecker): worker i1 n2 + i2, chunk j1 k2 + j2.
SharedMatrix kronecker(const SparseMatrix& left, const SparseMatrix& right) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index i1 = 0; i1 < left.rows(); ++i1) {
    for (SparseMatrix::InnerIterator e1(left, i1); e1; ++e1) {
      for (Eigen::Index i2 = 0; i2 < right.rows(); ++i2) {
        for (SparseMatrix::InnerIterator e2(right, i2); e2; ++e2) {
          entries.emplace_back(static_cast<int>(i1 * right.rows() + i2),
                               static_cast<int>(e1.col() * right.cols() + e2.col()),
                               e1.value() * e2.value());
        }
      }
    }
  }
  auto G = std::make_shared<SparseMatrix>(left.rows() * right.rows(), left.cols() * right.cols());
  G->setFromTriplets(entries.begin(), entries.end());
  return G;
}

/// The factors: approximate codes other than products, as they are by default.
std::vector<std::string> factor_names() {
  std::vector<std::string> names;
  for (const CodeDescription& code : code_catalog()) {
    if (!code.exact && code.name != "product") names.push_back(code.name);
  }
  return names;
}

Expected<SparseMatrix> factor(const std::string& name, int workers, std::uint64_t seed) {
  if (name == "copies" || name == "separate") {
    SparseMatrix G(workers, name == "copies" ? 1 : workers);
    for (int i = 0; i < workers; ++i) G.insert(i, name == "copies" ? 0 : i) = 1;
    return G;
  }
  auto code = make_code(name + ":s=0", {.workers = workers, .seed = seed});
  if (!code) return Unexpected(code.error());
  return matrix_of(*code);
}

/// The largest proper divisor of n that is the size of a projective plane; 0: there is none.
int default_left(int workers) {
  for (int m = workers / 2; m >= 7; --m) {
    if (workers % m == 0 && projective_plane_entry().exists(m, 0)) return m;
  }
  return 0;
}

bool product_exists(int workers, int /*stragglers*/) { return default_left(workers) > 0; }

Expected<GradientCode> make_product(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  std::vector<std::string> names = factor_names();
  const std::string left = parameters.word("left", names, "projective-plane");
  names.emplace_back("copies");
  names.emplace_back("separate");
  const std::string right = parameters.word("right", names, "copies");
  if (!parameters.has("left-workers") && default_left(n) == 0) {
    return invalid(fmt::format(
        "product: needs left-workers=, since no projective plane's size divides {} workers; the "
        "nearest numbers it does are {}",
        n,
        nearest_that_fit(n, 2 * n + 28, [](int m) { return product_exists(m, 0); })));
  }
  const int n1 = parameters.integer("left-workers", 1, n, std::max(default_left(n), 1));
  if (n % n1 != 0) {
    int below = n1;
    while (n % below != 0) --below;
    int above = n1;
    while (n % above != 0) ++above;
    return invalid(
        fmt::format("product: left-workers = {} does not divide {} workers; {} and {} do",
                    n1,
                    n,
                    below,
                    above));
  }
  const auto G1 = factor(left, n1, context.seed);
  if (!G1) return Unexpected(G1.error());
  const auto G2 = factor(right, n / n1, context.seed + 1);
  if (!G2) return Unexpected(G2.error());
  const SharedMatrix G = kronecker(*G1, *G2);
  const double width = static_cast<double>(G->nonZeros()) / n;
  const DecoderChoice choice = read_decoder(parameters, G, width);
  return finish_approximate({"product", G, choice.decoder, tolerance});
}

}  // namespace

CodeEntry product_entry() {
  std::vector<CodeParameter> own = {
      {"left", "an approximate code", "on n1 workers (projective-plane)"},
      {"left-workers", "n1 divides n", "(the largest projective plane that fits)"},
      {"right",
       "copies|separate|an approximate code",
       "on n/n1 workers (copies): all send the same, or all send something else"}};
  for (CodeParameter& parameter : decoder_parameters()) own.push_back(std::move(parameter));
  return {{.name = "product",
           .summary = "the product of two codes, for numbers of workers that have none",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "product of the factors' loads",
           .source = "Sakorikar, Wang, Soft BIBD and Product Gradient Codes (2021)"},
          make_product,
          product_exists,
          [](int workers, int /*most_holders*/) {
            if (!product_exists(workers, 0)) return std::vector<std::string>{};
            return std::vector<std::string>{"right=separate", ""};
          }};
}

}  // namespace paceline
