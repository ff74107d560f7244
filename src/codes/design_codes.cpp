// Codes on block designs: every two workers share the same number of chunks, so all answers are
// alike to the decoder and what is missing depends on how many stragglers there are, never on
// which:
//
//     residual = s (n-r) / (n (r (n-1) - s (r-1))).
//
// An adversary gains nothing, which makes these the codes for stragglers of unknown habits.
//
// Source: kadhe2019gradient.
#include "codes/design_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "codes/finite_field.hpp"
#include "codes/random_columns.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

/// One family of designs, by its number of points.
struct DesignFamily {
  const char* name;
  const char* sizes;  ///< which n there are
  bool (*exists)(int points);
  BlockDesign (*make)(int points);
  bool symmetric;  ///< n = k, so that the complement is a design of the kind too
  int (*blocks)(int points);
};

/// The q >= 2 with q^2 + q + 1 = n (a prime power), or 0.
int plane_order(int points) {
  for (int q = 2; q * q + q + 1 <= points; ++q) {
    if (q * q + q + 1 == points && q <= 101 && prime_power(q).prime > 0) return q;
  }
  return 0;
}

int affine_order(int points) {
  for (int q = 2; q * q <= points; ++q) {
    if (q * q == points && prime_power(q).prime > 0) return q;
  }
  return 0;
}

bool is_sylvester(int n) { return n >= 7 && std::has_single_bit(static_cast<unsigned>(n) + 1); }

bool is_square_design(int n) { return n >= 7 && n % 4 == 3 && prime_power(n).prime > 0; }

constexpr DesignFamily kProjective = {"projective-plane",
                                      "q^2+q+1, q a power of a prime",
                                      [](int n) { return plane_order(n) > 0; },
                                      [](int n) { return projective_plane(plane_order(n)); },
                                      true,
                                      nullptr};
constexpr DesignFamily kAffine = {"affine-plane",
                                  "q^2, q a power of a prime",
                                  [](int n) { return affine_order(n) > 0; },
                                  [](int n) { return affine_plane(affine_order(n)); },
                                  false,
                                  [](int n) { return n + affine_order(n); }};
constexpr DesignFamily kHadamard = {
    "hadamard",
    "2^u - 1, or a power of a prime that is 3 mod 4",
    [](int n) { return is_sylvester(n) || is_square_design(n); },
    [](int n) {
      if (is_square_design(n)) return square_design(n);
      return sylvester_design(std::bit_width(static_cast<unsigned>(n)));
    },
    true,
    nullptr};
constexpr DesignFamily kBiplane = {
    "biplane", "16 or 37", [](int n) { return n == 16 || n == 37; }, biplane, true, nullptr};
constexpr DesignFamily kSteiner = {"steiner",
                                   "1 or 3 mod 6, from 7 on",
                                   [](int n) { return n >= 7 && (n % 6 == 1 || n % 6 == 3); },
                                   steiner_triples,
                                   false,
                                   [](int n) { return n * (n - 1) / 6; }};
constexpr DesignFamily kPairs = {"pairs",
                                 "any from 2 on",
                                 [](int n) { return n >= 2; },
                                 [](int n) { return all_subsets(n, 2); },
                                 false,
                                 [](int n) { return n * (n - 1) / 2; }};

/// C(n, r) if it is at most so many, else more.
std::int64_t subset_count(int n, int r, std::int64_t most) {
  std::int64_t count = 1;
  for (int i = 1; i <= std::min(r, n - r) && count <= most; ++i) count = count * (n - i + 1) / i;
  return count;
}

constexpr std::int64_t kMostSubsets = 100'000;

bool has_subsets(int n, int r) {
  return r <= n && subset_count(n, r, kMostSubsets) <= kMostSubsets;
}

constexpr int kUsualSubset = 3;

bool subsets_exist(int workers, int /*stragglers*/) {
  return workers >= 2 && has_subsets(workers, std::min(kUsualSubset, workers));
}

DecoderChoice read_design_decoder(ParameterText& parameters,
                                  const SharedMatrix& G,
                                  double replication) {
  const auto n = static_cast<int>(G->rows());
  return read_decoder(parameters,
                      G,
                      replication * static_cast<double>(G->cols()) / n,
                      {"formula", {design_weight(n, replication), true}});
}

std::vector<CodeParameter> with_design_decoders(std::vector<CodeParameter> own) {
  for (CodeParameter& parameter : decoder_parameters("formula", "the closed form, optimal too")) {
    own.push_back(std::move(parameter));
  }
  return with_tolerance(std::move(own));
}

Expected<GradientCode> make_subsets(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  if (n < 2) return invalid("subsets: needs at least 2 workers");
  const int r = parameters.integer("r", 2, n, std::min(kUsualSubset, n));
  if (!has_subsets(n, r)) {
    int fitting = r;
    while (fitting > 1 && !has_subsets(n, fitting)) --fitting;
    return invalid(
        fmt::format("subsets: {} workers have more than {} subsets of {}, one per chunk; {}",
                    n,
                    kMostSubsets,
                    r,
                    fitting > 1 ? fmt::format("r = {} is the nearest below", fitting)
                                : std::string("so many workers have too many pairs, too")));
  }
  const SharedMatrix G = plain_sums(n, all_subsets(n, r).blocks);
  return finish_approximate(
      {"subsets", G, read_design_decoder(parameters, G, r).decoder, tolerance});
}

std::vector<std::string> subsets_settings(int workers, int most_holders) {
  std::vector<std::string> settings;
  for (int r = 2; r <= most_holders; ++r) {
    if (has_subsets(workers, r)) settings.push_back(fmt::format("r={}", r));
  }
  return settings;
}

/// The points of the family's design with so many blocks; 0: there is none.
template <const DesignFamily& family>
int points_of(int blocks) {
  for (int v = 2; v <= blocks; ++v) {
    if (family.exists(v) && family.blocks(v) == blocks) return v;
  }
  return 0;
}

/// Blocks are workers and points are chunks. Answers are then no longer alike, and what is left
/// depends on who straggles; but fewer chunks than workers are all decoded while few straggle.
template <const DesignFamily& family>
Expected<GradientCode> make_transposed(ParameterText& parameters,
                                       const Tolerance& tolerance,
                                       int n) {
  const int points = points_of<family>(n);
  if (points == 0) {
    return invalid(fmt::format(
        "{}: no design has {} blocks, one per worker; the nearest numbers are {}",
        family.name,
        n,
        nearest_that_fit(n, 4 * n + 40, [](int m) { return points_of<family>(m) > 0; })));
  }
  const BlockDesign design = family.make(points);
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(points));
  for (int block = 0; block < n; ++block) {
    for (const int point : design.blocks[static_cast<std::size_t>(block)]) {
      holders[static_cast<std::size_t>(point)].push_back(block);
    }
  }
  const SharedMatrix G = plain_sums(n, holders);
  const double width = static_cast<double>(design.blocks.front().size());
  return finish_approximate(
      {family.name, G, read_decoder(parameters, G, width).decoder, tolerance});
}

template <const DesignFamily& family>
Expected<GradientCode> make_design(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const bool inverted = family.symmetric && read_yes_or_no(parameters, "complement", false);
  if constexpr (!family.symmetric) {
    if (read_yes_or_no(parameters, "transposed", false)) {
      return make_transposed<family>(parameters, tolerance, n);
    }
  }
  if (!family.exists(n)) {
    return invalid(fmt::format("{}: there is none on {} workers, only on {}; the nearest: {}",
                               family.name,
                               n,
                               family.sizes,
                               nearest_that_fit(n, 4 * n + 16, family.exists)));
  }
  const BlockDesign design = inverted ? complement(family.make(n)) : family.make(n);
  const double replication = static_cast<double>(design.blocks.front().size());
  const SharedMatrix G = plain_sums(n, design.blocks);
  return finish_approximate(
      {family.name, G, read_design_decoder(parameters, G, replication).decoder, tolerance});
}

template <const DesignFamily& family>
std::vector<std::string> design_settings(int workers, int /*most_holders*/) {
  if (!family.exists(workers)) return {};
  if (!family.symmetric) return {""};
  return {"", "complement=yes"};
}

template <const DesignFamily& family>
CodeEntry entry(std::string summary, std::string load, std::string construction) {
  std::vector<CodeParameter> own;
  if (family.symmetric) {
    own.push_back({"complement", "yes|no", "hold what the design does not (no)"});
  } else {
    own.push_back(
        {"transposed",
         "yes|no",
         "blocks are workers and points chunks: another n, depends on who straggles (no)"});
  }
  return {{.name = family.name,
           .summary = std::move(summary),
           .exact = false,
           .parameters = with_design_decoders(std::move(own)),
           .load = std::move(load),
           .source = "Kadhe, Koyluoglu, Ramchandran, Gradient Coding Based on Block Designs "
                     "(2019); " +
                     construction},
          make_design<family>,
          [](int workers, int /*stragglers*/) { return family.exists(workers); },
          design_settings<family>};
}

}  // namespace

WeightDecoder design_weight(int workers, double replication) {
  return [workers, replication](const WorkerSet& answered, std::vector<double>& a) {
    const double others = workers > 1 ? (answered.size() - 1.0) / (workers - 1) : 0;
    const double weight = 1 / (1 + (replication - 1) * others);
    answered.for_each([&](WorkerId worker) { a[worker.index()] = weight; });
  };
}

CodeEntry projective_plane_entry() {
  return entry<kProjective>(
      "points and lines of a projective plane, n = q^2+q+1", "(q+1)/n", "Singer's difference sets");
}

CodeEntry affine_plane_entry() {
  return entry<kAffine>(
      "points and lines of an affine plane, n = q^2, k = q^2+q", "1/q", "lines over GF(q)");
}

CodeEntry hadamard_entry() {
  return entry<kHadamard>("Hadamard designs: half of the data, little is ever missing",
                          "about 1/2",
                          "Paley's squares, Sylvester's matrices");
}

CodeEntry biplane_entry() {
  return entry<kBiplane>("every two workers share two chunks, n = 16 or 37",
                         "6/16, 9/37",
                         "a grid, fourth powers mod 37");
}

CodeEntry steiner_entry() {
  return entry<kSteiner>("Steiner triple systems: three holders per chunk, n = 1 or 3 mod 6",
                         "3/n",
                         "Bose's and Skolem's triples");
}

CodeEntry pairs_entry() {
  return entry<kPairs>("every two workers share a chunk of their own, any n", "2/n", "all pairs");
}

CodeEntry subsets_entry() {
  return {{.name = "subsets",
           .summary = "every set of r workers shares a chunk of its own: a design for any n and r",
           .exact = false,
           .parameters =
               with_design_decoders({{"r",
                                      "2 <= r <= n",
                                      "workers that hold a chunk (3); C(n, r) chunks, at most "
                                      "100000"}}),
           .load = "r/n",
           .source = "Kadhe, Koyluoglu, Ramchandran, Gradient Coding Based on Block Designs "
                     "(2019); all subsets"},
          make_subsets,
          subsets_exist,
          subsets_settings};
}

}  // namespace paceline
