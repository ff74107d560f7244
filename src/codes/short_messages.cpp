// Short messages: a worker holds m - 1 chunks more than its stragglers ask for, and sends d/m
// numbers instead of d. A gradient is cut into m blocks; worker i owns the node z_i and sends one
// sum over the blocks of its s+m chunks. As a function of z_i that sum is a polynomial, whose m
// leading coefficients are the blocks of the gradient and which any n-s values determine. All
// weights have closed forms, so no linear system is solved anywhere.
//
// Nodes on the unit circle, z_i = omega^(u i), are the most accurate. Their weights are complex: a
// block's halves serve as real and imaginary part (see cyclic_mds.cpp), so there are 2m parts, and
// a message has two segments. Chebyshev's nodes 2 cos((2 (u i mod n) + 1) pi / 2n) make real
// weights, half as many; with m = 1 they are a gradient code of their own, "chebyshev". The
// published nodes,
// +-1, +-3/2, +-2, ..., are there to compare with the paper.
//
// Source: ye2018communication. Differs: nodes on the circle and Chebyshev's, strided; closed forms
// for encoding and for any number of answers; contiguous blocks instead of interleaved ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "codes/code_entry.hpp"
#include "codes/code_quality.hpp"
#include "codes/cyclic_mds.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"
#include "codes/straggler_sets.hpp"

namespace paceline {
namespace {

using Complex = std::complex<double>;

/// @tparam Number  double or Complex
template <class Number>
struct Blocks {
  int n = 0;
  int s = 0;
  int m = 0;
  int width = 0;                  // w = s + m: chunks of a worker
  std::vector<Number> node = {};  // shape (n)
  std::vector<Number> scale =
      {};  // shape (n), of the workers' rows: any, chosen to keep weights near 1
  std::vector<Number> E = {};  // shape (n, w, m): worker i's weight on block u of chunk i+p

  std::size_t at(int i, int p, int u) const {
    return static_cast<std::size_t>((i * width + p) * m + u);
  }

  Number z(int i) const { return node[static_cast<std::size_t>(i)]; }
};

/// E[i, j, 1] = scale_i / product over the other holders l of (z_i - z_l), and
/// E[i, j, u+1] = E[i, j, 1] r_(u+1) with r_1 = 1, r_(u+1) = z_i r_u + h_u, where h_u is the
/// coefficient of y^u in the product over all holders l of (1 - z_l y). Chunk j is held by the
/// workers j-w+1, ..., j.
template <class Number>
void encode_column(Blocks<Number>& code, int j) {
  const int n = code.n;
  const auto holder = [&](int p) { return (j - p + n) % n; };  // chunk j is its p-th
  std::vector<Number> h(static_cast<std::size_t>(code.m), 0.0);
  h[0] = 1;
  for (int p = 0; p < code.width; ++p) {
    for (std::size_t t = h.size() - 1; t > 0; --t) h[t] -= code.z(holder(p)) * h[t - 1];
  }
  for (int p = 0; p < code.width; ++p) {
    const Number z = code.z(holder(p));
    Number first = code.scale[static_cast<std::size_t>(holder(p))];
    for (int q = 0; q < code.width; ++q) {
      if (q != p) first /= z - code.z(holder(q));
    }
    Number r = 1;
    for (int u = 0; u < code.m; ++u) {
      code.E[code.at(holder(p), p, u)] = first * r;
      if (u + 1 < code.m) r = z * r + h[static_cast<std::size_t>(u) + 1];
    }
  }
}

template <class Number>
void encode(Blocks<Number>& code) {
  code.width = code.s + code.m;
  code.E.resize(static_cast<std::size_t>(code.n * code.width * code.m));
  for (int j = 0; j < code.n; ++j) encode_column(code, j);
}

/// Where decoding may choose: the roots that stand in for stragglers that are not there. In the
/// middle of the circle, or spread as the nodes are.
template <class Number>
std::vector<Number> free_roots(const Blocks<Number>& code, int count) {
  std::vector<Number> roots(static_cast<std::size_t>(count), 0.0);
  if constexpr (std::is_same_v<Number, double>) {
    const double widest = *std::ranges::max_element(code.node);
    for (int t = 0; t < count; ++t) {
      roots[static_cast<std::size_t>(t)] =
          widest * std::cos((2 * t + 1) * std::numbers::pi / (2 * count));
    }
  }
  return roots;
}

/// Let R be s roots, those of the stragglers' nodes among them. The weight of worker i for block
/// m-v, v = 0 ... m-1, counted from 1, is
/// 1/scale_i product over x in R of (z_i - x) sum_(t <= v) q_t z_i^(v-t),
/// where q_t is the coefficient of y^t in 1 / product over x in R of (1 - x y).
/// @return shape (n, m), by block; exactly 0 for stragglers
template <class Number>
std::vector<Number> decode_weights(const Blocks<Number>& code, const std::vector<int>& stragglers) {
  const auto m = static_cast<std::size_t>(code.m);
  std::vector<Number> roots = free_roots(code, code.s - static_cast<int>(stragglers.size()));
  for (const int l : stragglers) roots.push_back(code.z(l));
  std::vector<Number> q(m, 0.0);
  q[0] = 1;
  for (const Number root : roots) {
    for (std::size_t t = 1; t < m; ++t) q[t] += root * q[t - 1];
  }
  std::vector<Number> a(static_cast<std::size_t>(code.n) * m);
  for (int i = 0; i < code.n; ++i) {
    const Number z = code.z(i);
    Number common = 1.0 / code.scale[static_cast<std::size_t>(i)];
    for (const Number root : roots) common *= z - root;
    Number sum = 0;
    for (std::size_t v = 0; v < m; ++v) {
      sum = z * sum + q[v];
      a[static_cast<std::size_t>(i) * m + m - 1 - v] = common * sum;
    }
  }
  return a;
}

/// What the weights leave, read off the code. A sum over blocks within a norm bounds the rounding
/// of all blocks together: A = max_j sum_i |a_i| |E_ij| with |.| the length over the m blocks.
template <class Number>
void check(const Blocks<Number>& code, const std::vector<Number>& a, Combination& combination) {
  const auto m = static_cast<std::size_t>(code.m);
  const auto length = [m](const Number* x) {
    double sum = 0;
    for (std::size_t u = 0; u < m; ++u) sum += std::norm(x[u]);
    return std::sqrt(sum);
  };
  combination.amplification = 0;
  std::vector<Number> arrived(m * m);  // block u of the chunk in block b of the sum
  for (int j = 0; j < code.n; ++j) {
    std::ranges::fill(arrived, 0.0);
    double amplification = 0;
    for (int p = 0; p < code.width; ++p) {
      const int i = (j - p + code.n) % code.n;
      const Number* weights = &a[static_cast<std::size_t>(i) * m];
      const Number* E = &code.E[code.at(i, p, 0)];
      amplification += length(weights) * length(E);
      for (std::size_t b = 0; b < m; ++b) {
        for (std::size_t u = 0; u < m; ++u) arrived[b * m + u] += weights[b] * E[u];
      }
    }
    combination.amplification = std::max(combination.amplification, amplification);
    for (std::size_t b = 0; b < m; ++b) {
      for (std::size_t u = 0; u < m; ++u) {
        const double wanted = b == u ? 1 : 0;
        combination.residual += std::norm(arrived[b * m + u] - wanted) / (code.n * code.m);
      }
    }
  }
}

/// Hands over the real weights of a block: the one, or the four of a complex one between the two
/// halves of the block and the two of a message. @param add  add(weight, half of the block,
/// segment)
template <class Add>
void split(double weight, const Add& add) {
  if (weight != 0) add(weight, 0, 0);
}

template <class Add>
void split(Complex weight, const Add& add) {
  if (weight.real() != 0) add(weight.real(), 0, 0);
  if (weight.imag() != 0) add(weight.imag(), 0, 1);
  if (weight.imag() != 0) add(-weight.imag(), 1, 0);
  if (weight.real() != 0) add(weight.real(), 1, 1);
}

template <class Number>
constexpr int kHalves = std::is_same_v<Number, double> ? 1 : 2;

template <class Number>
Combination combine(const Blocks<Number>& code, const WorkerSet& answered) {
  std::vector<int> stragglers;
  answered.complement().for_each([&](WorkerId l) { stragglers.push_back(l.value); });
  const std::vector<Number> a = decode_weights(code, stragglers);
  const bool whole = code.m * kHalves<Number> == 1;
  Combination combination;
  check(code, a, combination);
  for (int i = 0; i < code.n; ++i) {
    for (int b = 0; b < code.m; ++b) {
      // (x + iy) (segment 0 + i segment 1) = half 0 + i half 1
      split(a[static_cast<std::size_t>(i * code.m + b)], [&](double weight, int segment, int half) {
        if (whole) {
          combination.terms.push_back({WorkerId{i}, weight});
        } else {
          combination.terms.push_back({WorkerId{i}, weight, segment, kHalves<Number> * b + half});
        }
      });
    }
  }
  return combination;
}

/// The bare code of these nodes and scales.
template <class Number>
GradientCode code_on(Blocks<Number> blocks) {
  const int n = blocks.n;
  const int m = blocks.m;
  encode(blocks);
  const bool whole = m * kHalves<Number> == 1;

  GradientCode code;
  code.name = "short-messages";
  code.chunks = n;
  if (!whole) code.shape = {.parts = kHalves<Number> * m, .segments = kHalves<Number>};
  code.tolerance = blocks.s;
  code.load = static_cast<double>(blocks.width) / n;
  code.chunk_size.assign(static_cast<std::size_t>(n), 1.0 / n);
  for (int i = 0; i < n; ++i) {
    std::vector<Term> terms;
    for (int p = 0; p < blocks.width; ++p) {
      const ChunkId chunk{(i + p) % n};
      for (int u = 0; u < m; ++u) {
        split(blocks.E[blocks.at(i, p, u)], [&](double weight, int half, int segment) {
          if (whole) {
            terms.push_back({chunk, weight});
          } else {
            terms.push_back({chunk, weight, kHalves<Number> * u + half, segment});
          }
        });
      }
    }
    code.rows.emplace_back(std::move(terms));
  }
  code.decode = [blocks = std::make_shared<const Blocks<Number>>(std::move(blocks))](
                    const WorkerSet& answered) {
    return std::optional(combine(*blocks, answered));
  };
  return code;
}

GradientCode circle_code(int n, int s, int m) {
  Blocks<Complex> blocks{.n = n, .s = s, .m = m};
  const int stride = best_stride(n, s + m - 1);
  for (int i = 0; i < n; ++i) {
    const auto turns = static_cast<double>(std::int64_t{stride} * i % n);
    blocks.node.push_back(std::polar(1.0, 2 * std::numbers::pi * turns / n));
    blocks.scale.push_back(static_cast<double>(n) / blocks.node.back());
  }
  return code_on(std::move(blocks));
}

/// Rows scaled so that their largest weight is 1.
GradientCode line_code(int n, int s, int m, std::vector<double> nodes) {
  Blocks<double> blocks{.n = n, .s = s, .m = m, .node = std::move(nodes)};
  blocks.scale.assign(static_cast<std::size_t>(n), 1.0);
  encode(blocks);
  for (int i = 0; i < n; ++i) {
    double largest = 0;
    for (int t = 0; t < blocks.width * m; ++t) {
      largest =
          std::max(largest, std::abs(blocks.E[blocks.at(i, 0, 0) + static_cast<std::size_t>(t)]));
    }
    blocks.scale[static_cast<std::size_t>(i)] = 1 / largest;
  }
  return code_on(std::move(blocks));
}

/// +-(1 + t/2), t = 0, 1, ..., the positive ones first, and before them 0 where n is odd.
std::vector<double> published_nodes(int n) {
  std::vector<double> nodes;
  if (n % 2 != 0) nodes.push_back(0);
  for (const int sign : {1, -1}) {
    for (int t = 0; t < n / 2; ++t) nodes.push_back(sign * (1 + t / 2.0));
  }
  return nodes;
}

/// At most about `count` of the sets, evenly spread.
void thin_out(std::vector<WorkerSet>& sets, std::size_t count) {
  const std::size_t step = std::max<std::size_t>(1, sets.size() / count);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < sets.size(); at += step) sets[kept++] = sets[at];
  sets.resize(kept, WorkerSet(0));
}

/// The stride is the one that magnifies rounding least on the same straggler sets, of as many as
/// can be tried in a fraction of a second. Strides u and n - u differ little.
GradientCode chebyshev_code(int n, int s, int m) {
  constexpr int kScoredSets = 50;
  constexpr double kBudget = 1e7;  // multiplications
  StragglerSample sample = sample_survivors(n, s, kScoredSets);
  thin_out(sample.typical, kScoredSets);
  thin_out(sample.together, kScoredSets);
  const double one_stride = 2.0 * kScoredSets * n * (s + m) * (m * m + 1);
  const int step = std::max(1, static_cast<int>(n / 2 * one_stride / kBudget));
  std::optional<GradientCode> best;
  double least = 0;
  for (int from = 1; 2 * from <= n || !best; from += step) {
    int stride = from;
    while (std::gcd(stride, n) != 1) ++stride;
    std::vector<double> nodes;
    for (int i = 0; i < n; ++i) {
      const auto place = static_cast<double>(std::int64_t{stride} * i % n);
      nodes.push_back(2 * std::cos((2 * place + 1) * std::numbers::pi / (2 * n)));
    }
    GradientCode code = line_code(n, s, m, std::move(nodes));
    const double score = quality_on(code, sample).p95_amplification;
    if (best && score >= least) continue;
    least = score;
    best = std::move(code);
  }
  return *std::move(best);
}

Expected<GradientCode> make_short_messages(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  const int m = parameters.integer("m", 1, n, std::clamp(n - s, 1, 2));
  static const std::vector<std::string> kNodes = {"circle", "chebyshev", "published"};
  const std::string nodes = parameters.word("nodes", kNodes, "circle");
  if (!parameters.ok()) return invalid("short-messages: wrong parameters");
  if (s + m > n) {
    return invalid(fmt::format(
        "short-messages: s + m = {} is more than the {} workers; with s = {} at most m = {}",
        s + m,
        n,
        s,
        n - s));
  }
  if (nodes == "circle") {
    return promise(circle_code(n, s, m), context.keep_promise, context.message_type);
  }
  return promise(
      nodes == "chebyshev" ? chebyshev_code(n, s, m) : line_code(n, s, m, published_nodes(n)),
      context.keep_promise,
      context.message_type);
}

Expected<GradientCode> make_chebyshev(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  if (!parameters.ok()) return invalid("chebyshev: wrong parameters");
  if (s == 0 || s == n - 1) return plain_code("chebyshev", n, s);
  GradientCode code = chebyshev_code(n, s, 1);
  code.name = "chebyshev";
  return promise(std::move(code), context.keep_promise, context.message_type);
}

}  // namespace

CodeEntry chebyshev_entry() {
  return {{.name = "chebyshev",
           .summary = "real weights in closed form for any n and s, on strided Chebyshev nodes",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1", "stragglers tolerated"}},
           .load = "(s+1)/n",
           .source = "ours; the polynomials of Ye, Abbe, Communication-Computation Efficient "
                     "Gradient Coding (2018), for m = 1"},
          make_chebyshev,
          exists_always};
}

CodeEntry short_messages_entry() {
  return {{.name = "short-messages",
           .summary = "messages of d/m numbers for m - 1 chunks more per worker; closed form",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-m", "stragglers tolerated"},
                          {"m", "1 <= m <= n-s", "a message has d/m numbers (2)"},
                          {"nodes",
                           "circle|chebyshev|published",
                           "complex weights, the most accurate (circle); real ones; the paper's"}},
           .load = "(s+m)/n",
           .source = "Ye, Abbe, Communication-Computation Efficient Gradient Coding (2018)"},
          make_short_messages,
          [](int /*workers*/, int /*stragglers*/) { return true; }};
}

}  // namespace paceline
