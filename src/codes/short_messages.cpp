// Short messages: a worker holds m chunks more than its stragglers ask for, and sends d/m numbers
// instead of d. A gradient is cut into m blocks; worker i owns the node z_i = omega^(u i) on the
// unit circle and sends one sum over the blocks of its s+m chunks. As a function of z_i that sum is
// a polynomial, whose m leading coefficients are the blocks of the gradient and which any n-s
// values determine. All weights have closed forms, so no linear system is solved anywhere.
//
// Weights are complex; a block's halves serve as real and imaginary part (see cyclic_mds.cpp), so
// there are 2m parts, and a message has two segments.
//
// Source: ye2018communication. Differs: nodes on the circle, strided; closed forms for encoding and
// for any number of answers; contiguous blocks instead of interleaved ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "codes/code_entry.hpp"
#include "codes/cyclic_mds.hpp"
#include "codes/promise.hpp"

namespace paceline {
namespace {

using Complex = std::complex<double>;

struct Blocks {
  int n = 0;
  int s = 0;
  int m = 0;
  int width = 0;              // w = s + m: chunks of a worker
  std::vector<Complex> node;  // shape (n)
  std::vector<Complex> E;     // shape (n, w, m): worker i's weight on block u of chunk i+p

  std::size_t at(int i, int p, int u) const {
    return static_cast<std::size_t>((i * width + p) * m + u);
  }

  Complex z(int i) const { return node[static_cast<std::size_t>(i)]; }
};

/// E[i, j, 1] = n / z_i / product over the other holders l of (z_i - z_l), and
/// E[i, j, u+1] = E[i, j, 1] r_(u+1) with r_1 = 1, r_(u+1) = z_i r_u + h_u, where h_u is the
/// coefficient of y^u in the product over all holders l of (1 - z_l y). Chunk j is held by the
/// workers j-w+1, ..., j.
void encode_column(Blocks& code, int j) {
  const int n = code.n;
  const auto holder = [&](int p) { return (j - p + n) % n; };  // chunk j is its p-th
  std::vector<Complex> h(static_cast<std::size_t>(code.m), 0.0);
  h[0] = 1;
  for (int p = 0; p < code.width; ++p) {
    for (std::size_t t = h.size() - 1; t > 0; --t) h[t] -= code.z(holder(p)) * h[t - 1];
  }
  for (int p = 0; p < code.width; ++p) {
    const Complex z = code.z(holder(p));
    Complex first = static_cast<double>(n) / z;
    for (int q = 0; q < code.width; ++q) {
      if (q != p) first /= z - code.z(holder(q));
    }
    Complex r = 1;
    for (int u = 0; u < code.m; ++u) {
      code.E[code.at(holder(p), p, u)] = first * r;
      if (u + 1 < code.m) r = z * r + h[static_cast<std::size_t>(u) + 1];
    }
  }
}

/// The weight of worker i for block m-v, v = 0 ... m-1, counted from 1:
/// 1/n z_i^(1+s-|S|) product over l in S of (z_i - z_l) sum_(t <= v) q_t z_i^(v-t),
/// where q_t is the coefficient of y^t in 1 / product over l in S of (1 - z_l y).
/// @return shape (n, m), by block; exactly 0 for stragglers
std::vector<Complex> decode_weights(const Blocks& code, const std::vector<int>& stragglers) {
  const auto m = static_cast<std::size_t>(code.m);
  std::vector<Complex> q(m, 0.0);
  q[0] = 1;
  for (const int l : stragglers) {
    for (std::size_t t = 1; t < m; ++t) q[t] += code.z(l) * q[t - 1];
  }
  const int power = 1 + code.s - static_cast<int>(stragglers.size());
  std::vector<Complex> a(static_cast<std::size_t>(code.n) * m);
  for (int i = 0; i < code.n; ++i) {
    const Complex z = code.z(i);
    Complex common = 1.0 / code.n;
    for (int t = 0; t < power; ++t) common *= z;
    for (const int l : stragglers) common *= z - code.z(l);
    Complex sum = 0;
    for (std::size_t v = 0; v < m; ++v) {
      sum = z * sum + q[v];
      a[static_cast<std::size_t>(i) * m + m - 1 - v] = common * sum;
    }
  }
  return a;
}

/// What the weights leave, read off the code. A sum over blocks within a norm bounds the rounding
/// of all blocks together: A = max_j sum_i |a_i| |E_ij| with |.| the length over the m blocks.
void check(const Blocks& code, const std::vector<Complex>& a, Combination& combination) {
  const auto m = static_cast<std::size_t>(code.m);
  const auto length = [m](const Complex* x) {
    double sum = 0;
    for (std::size_t u = 0; u < m; ++u) sum += std::norm(x[u]);
    return std::sqrt(sum);
  };
  combination.amplification = 0;
  std::vector<Complex> arrived(m * m);  // block u of the chunk in block b of the sum
  for (int j = 0; j < code.n; ++j) {
    std::ranges::fill(arrived, 0.0);
    double amplification = 0;
    for (int p = 0; p < code.width; ++p) {
      const int i = (j - p + code.n) % code.n;
      const Complex* weights = &a[static_cast<std::size_t>(i) * m];
      const Complex* E = &code.E[code.at(i, p, 0)];
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

/// Appends the four real weights of a complex one. @param add  add(weight, which half of the
/// block, segment)
template <class Add>
void split(Complex weight, const Add& add) {
  if (weight.real() != 0) add(weight.real(), 0, 0);
  if (weight.imag() != 0) add(weight.imag(), 0, 1);
  if (weight.imag() != 0) add(-weight.imag(), 1, 0);
  if (weight.real() != 0) add(weight.real(), 1, 1);
}

Combination combine(const Blocks& code, const WorkerSet& answered) {
  std::vector<int> stragglers;
  answered.complement().for_each([&](WorkerId l) { stragglers.push_back(l.value); });
  const std::vector<Complex> a = decode_weights(code, stragglers);
  Combination combination;
  check(code, a, combination);
  for (int i = 0; i < code.n; ++i) {
    for (int b = 0; b < code.m; ++b) {
      // (x + iy) (segment 0 + i segment 1) = half 0 + i half 1
      split(a[static_cast<std::size_t>(i * code.m + b)], [&](double weight, int segment, int half) {
        combination.terms.push_back({WorkerId{i}, weight, segment, 2 * b + half});
      });
    }
  }
  return combination;
}

GradientCode bare_short_messages(int workers, int stragglers, int shortening) {
  auto blocks = std::make_shared<Blocks>();
  blocks->n = workers;
  blocks->s = stragglers;
  blocks->m = shortening;
  blocks->width = stragglers + shortening;
  const int stride = best_stride(workers, blocks->width - 1);
  for (int i = 0; i < workers; ++i) {
    const auto turns = static_cast<double>(std::int64_t{stride} * i % workers);
    blocks->node.push_back(std::polar(1.0, 2 * std::numbers::pi * turns / workers));
  }
  blocks->E.resize(static_cast<std::size_t>(workers * blocks->width * shortening));
  for (int j = 0; j < workers; ++j) encode_column(*blocks, j);

  GradientCode code;
  code.name = "short-messages";
  code.chunks = workers;
  code.shape = {.parts = 2 * shortening, .segments = 2};
  code.tolerance = stragglers;
  code.load = static_cast<double>(blocks->width) / workers;
  code.chunk_size.assign(static_cast<std::size_t>(workers), 1.0 / workers);
  for (int i = 0; i < workers; ++i) {
    std::vector<Term> terms;
    for (int p = 0; p < blocks->width; ++p) {
      const ChunkId chunk{(i + p) % workers};
      for (int u = 0; u < shortening; ++u) {
        split(blocks->E[blocks->at(i, p, u)], [&](double weight, int half, int segment) {
          terms.push_back({chunk, weight, 2 * u + half, segment});
        });
      }
    }
    code.rows.emplace_back(std::move(terms));
  }
  code.decode = [blocks = std::shared_ptr<const Blocks>(blocks)](const WorkerSet& answered) {
    return std::optional(combine(*blocks, answered));
  };
  return code;
}

Expected<GradientCode> make_short_messages(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  const int m = parameters.integer("m", 1, n, std::clamp(n - s, 1, 2));
  if (!parameters.ok()) return invalid("short-messages: wrong parameters");
  if (s + m > n) {
    return invalid(fmt::format(
        "short-messages: s + m = {} is more than the {} workers; with s = {} at most m = {}",
        s + m,
        n,
        s,
        n - s));
  }
  return promise(bare_short_messages(n, s, m), context.keep_promise, context.message_type);
}

}  // namespace

CodeEntry short_messages_entry() {
  return {{.name = "short-messages",
           .summary = "messages of d/m numbers for m - 1 chunks more per worker; complex weights, "
                      "closed form",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-m", "stragglers tolerated"},
                          {"m", "1 <= m <= n-s", "a message has d/m numbers (2)"}},
           .load = "(s+m)/n",
           .source = "Ye, Abbe, Communication-Computation Efficient Gradient Coding (2018)"},
          make_short_messages,
          [](int /*workers*/, int /*stragglers*/) { return true; }};
}

}  // namespace paceline
