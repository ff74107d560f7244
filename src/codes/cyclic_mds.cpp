// Cyclic MDS code on strided roots of unity. Worker i owns the node z_i = omega^(u i) on the unit
// circle. For stragglers S take the polynomial p(z) = product over l in S of (1 - z / z_l): it is 1
// at 0 and vanishes on S, so a_i = p(z_i) ignores the stragglers. Column j of G holds the Lagrange
// weights that give a polynomial's value at 0 from its values on the s+1 holders of chunk j; they
// are exact up to degree s, so (a G)_j = p(0) = 1, and no linear system is solved anywhere.
//
// The stride u spreads neighbours, who share chunks, around the circle: with u = 1 the weights
// grow like (n/pi)^s / s!, with the best u their magnitudes sum to little more than 1.
//
// G is complex. The first half of a real gradient serves as real part and the second as imaginary
// part; since the true coefficients are 1, the decoded complex vector is the gradient itself.
#include "codes/cyclic_mds.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "codes/amplification_limit.hpp"
#include "codes/circle_kernels.hpp"
#include "codes/cyclic_band.hpp"
#include "codes/parameters.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

using Complex = std::complex<double>;

struct Circle {
  int stragglers = 0;
  SplitComplex factor;          // factor[i] = 1 - omega^(u i), shape (2n): twice round
  std::vector<Complex> column;  // shape (s+1)
  std::vector<int> held;        // chunks of each worker; without any it sends no message
  std::vector<int> last;        // last[j]: chunk j lies on the workers last[j]-s ... last[j]

  Complex node(int worker) const { return 1.0 - factor[static_cast<std::size_t>(worker)]; }
};

/// 1 - omega^t = 2 sin(pi t/n) (sin(pi t/n) - i cos(pi t/n)): no cancellation for small t.
Complex one_minus_root(int n, std::int64_t t) {
  const double angle = std::numbers::pi * static_cast<double>((t % n + n) % n) / n;
  return 2 * std::sin(angle) * Complex(std::sin(angle), -std::cos(angle));
}

/// The closed form: a_i = p(z_i) = product over l in S of (1 - z_i / z_l), exactly 0 for i in S.
SplitComplex closed_form(const Circle& circle, const std::vector<int>& stragglers) {
  SplitComplex a(circle.held.size(), 1.0);
  multiply_factors(circle.factor, stragglers, a);
  return a;
}

BandCheck check_of(const Circle& circle, const SplitComplex& a) {
  const WindowSums windows = window_sums(a, circle.column);
  BandCheck check;
  for (const int last : circle.last) {
    const auto w = static_cast<std::size_t>(last);
    check.residual += std::norm(windows.sum[w] - 1.0) / static_cast<double>(circle.last.size());
    check.amplification = std::max(check.amplification, windows.magnitude[w]);
  }
  return check;
}

/// With m < s stragglers p(z) q(z) decodes too, for any q with q(0) = 1 and degree s - m. The sum
/// of |a_i|^2 is n times that of the coefficients (the nodes are all n-th roots of unity), so the
/// shortest a is a problem of linear prediction: normal equations of size s - m on the
/// autocorrelation of p's coefficients. Their rounding only moves q, never the exactness.
void shorten(const Circle& circle, const std::vector<int>& stragglers, SplitComplex& a) {
  const int free = circle.stragglers - static_cast<int>(stragglers.size());
  Eigen::VectorXcd p = Eigen::VectorXcd::Unit(static_cast<Eigen::Index>(stragglers.size()) + 1, 0);
  for (std::size_t m = 0; m < stragglers.size(); ++m) {
    const auto degree = static_cast<Eigen::Index>(m) + 1;
    const Complex inverse_node = std::conj(circle.node(stragglers[m]));
    for (Eigen::Index k = degree; k > 0; --k) p[k] -= p[k - 1] * inverse_node;
  }
  Eigen::VectorXcd correlation = Eigen::VectorXcd::Zero(free + 1);  // sum_k p_(k+h) conj(p_k)
  for (Eigen::Index h = 0; h <= std::min<Eigen::Index>(free, p.size() - 1); ++h) {
    correlation[h] = p.head(p.size() - h).dot(p.tail(p.size() - h));
  }
  Eigen::MatrixXcd normal(free, free);
  for (Eigen::Index r = 0; r < free; ++r) {
    for (Eigen::Index c = 0; c < free; ++c) {
      normal(r, c) = r >= c ? correlation[r - c] : std::conj(correlation[c - r]);
    }
  }
  const Eigen::VectorXcd q = normal.ldlt().solve(-correlation.tail(free));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Complex z = circle.node(static_cast<int>(i));
    Complex value = 0;
    for (Eigen::Index k = free - 1; k >= 0; --k) value = (value + q[k]) * z;
    a.set(i, a[i] * (1.0 + value));
  }
}

Combination combine(const Circle& circle, const WorkerSet& answered) {
  std::vector<int> stragglers;
  for (int l = 0; l < answered.workers(); ++l) {
    if (!answered.contains(WorkerId{l})) stragglers.push_back(l);
  }
  SplitComplex a = closed_form(circle, stragglers);
  BandCheck check = check_of(circle, a);
  if (!stragglers.empty() && static_cast<int>(stragglers.size()) < circle.stragglers) {
    SplitComplex shorter = a;
    shorten(circle, stragglers, shorter);
    const BandCheck shorter_check = check_of(circle, shorter);
    if (shorter_check.amplification < check.amplification) {
      a = std::move(shorter);
      check = shorter_check;
    }
  }
  Combination combination;
  combination.residual = check.residual;
  combination.amplification = check.amplification;
  combination.terms.reserve(4 * a.size());
  for (int i = 0; i < answered.workers(); ++i) {
    if (circle.held[static_cast<std::size_t>(i)] == 0) continue;
    // (x + iy) (segment 0 + i segment 1) = part 0 + i part 1
    const double x = a[static_cast<std::size_t>(i)].real();
    const double y = a[static_cast<std::size_t>(i)].imag();
    if (x != 0) combination.terms.push_back({WorkerId{i}, x, 0, 0});
    if (y != 0) combination.terms.push_back({WorkerId{i}, -y, 1, 0});
    if (y != 0) combination.terms.push_back({WorkerId{i}, y, 0, 1});
    if (x != 0) combination.terms.push_back({WorkerId{i}, x, 1, 1});
  }
  return combination;
}

/// Appends a complex weight on a chunk as real weights on its two parts.
void append_terms(std::vector<Term>& terms, ChunkId chunk, Complex weight) {
  const double x = weight.real();
  const double y = weight.imag();
  if (x != 0) terms.push_back({chunk, x, 0, 0});
  if (y != 0) terms.push_back({chunk, -y, 1, 0});
  if (y != 0) terms.push_back({chunk, y, 0, 1});
  if (x != 0) terms.push_back({chunk, x, 1, 1});
}

}  // namespace

std::vector<Complex> stride_column(int workers, int stragglers, int stride) {
  std::vector<Complex> column;
  for (int t = 0; t <= stragglers; ++t) {
    Complex product = 1;
    for (int l = 0; l <= stragglers; ++l) {
      if (l != t) product /= one_minus_root(workers, std::int64_t{stride} * (t - l));
    }
    column.push_back(product);
  }
  return column;
}

double stride_magnitude(int workers, int stragglers, int stride) {
  // Entry t is a product over the distances 1 ... t and 1 ... s-t.
  std::vector<double> up_to(static_cast<std::size_t>(stragglers) + 1, 1.0);
  for (int distance = 1; distance <= stragglers; ++distance) {
    const auto here = static_cast<std::size_t>(distance);
    up_to[here] =
        up_to[here - 1] / std::abs(one_minus_root(workers, std::int64_t{stride} * distance));
  }
  double sum = 0;
  for (std::size_t t = 0; t < up_to.size(); ++t) sum += up_to[t] * up_to[up_to.size() - 1 - t];
  return sum;
}

int best_stride(int workers, int stragglers) {
  constexpr double kTie = 1e-9;
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int stride = 1; 2 * stride <= workers; ++stride) {
    if (std::gcd(stride, workers) != 1) continue;
    const double magnitude = stride_magnitude(workers, stragglers, stride);
    if (magnitude < least * (1 - kTie)) {
      least = magnitude;
      best = stride;
    }
  }
  return best;
}

GradientCode bare_node_code(int workers, int stragglers, int stride, std::vector<int> last) {
  PACELINE_CHECK(stragglers >= 1 && stragglers <= workers - 2);
  PACELINE_CHECK(std::gcd(stride, workers) == 1);
  const auto chunks = static_cast<int>(last.size());
  auto circle = std::make_shared<Circle>();
  circle->stragglers = stragglers;
  circle->column = stride_column(workers, stragglers, stride);
  circle->last = std::move(last);
  circle->factor = SplitComplex(2 * static_cast<std::size_t>(workers), 0.0);
  for (int i = 0; i < 2 * workers; ++i) {
    circle->factor.set(static_cast<std::size_t>(i),
                       one_minus_root(workers, std::int64_t{stride} * i));
  }

  GradientCode code;
  code.chunks = chunks;
  code.shape.parts = 2;
  code.tolerance = stragglers;
  code.backward_passes = 2;
  code.chunk_size.assign(circle->last.size(), 1.0 / chunks);
  std::vector<std::vector<Term>> rows(static_cast<std::size_t>(workers));
  circle->held.assign(rows.size(), 0);
  for (int j = 0; j < chunks; ++j) {
    for (int t = 0; t <= stragglers; ++t) {
      const std::size_t worker =
          band_worker(workers, stragglers, circle->last[static_cast<std::size_t>(j)], t);
      append_terms(rows[worker], ChunkId{j}, circle->column[static_cast<std::size_t>(t)]);
      ++circle->held[worker];
    }
  }
  for (std::vector<Term>& terms : rows) code.rows.emplace_back(std::move(terms));
  code.load = static_cast<double>(*std::ranges::max_element(circle->held)) / chunks;
  code.decode = [circle = std::shared_ptr<const Circle>(circle)](const WorkerSet& answered) {
    return std::optional(combine(*circle, answered));
  };
  return code;
}

GradientCode bare_cyclic_mds(int workers, int stragglers, int stride) {
  std::vector<int> last(static_cast<std::size_t>(workers));
  std::iota(last.begin(), last.end(), 0);
  GradientCode code = bare_node_code(workers, stragglers, stride, std::move(last));
  code.name = "mds";
  return code;
}

Expected<GradientCode> make_cyclic_mds(const CyclicMdsOptions& options) {
  const int n = options.workers;
  const int s = options.stragglers;
  if (const Expected<void> legal = check_workers_and_stragglers(n, s); !legal) {
    return Unexpected(legal.error());
  }
  const Expected<double> limit = resolve_amplification_limit(options.amplification_limit);
  if (!limit) return Unexpected(limit.error());
  if (options.stride < 0 || (options.stride > 0 && std::gcd(options.stride, n) != 1)) {
    return invalid(
        fmt::format("stride = {}: must be positive and share no divisor with workers = {}, or 0 "
                    "for the best; the best is {}",
                    options.stride,
                    n,
                    best_stride(n, s)));
  }
  if (s == 0 || s == n - 1) return plain_code("mds", n, s);
  const int stride = options.stride > 0 ? options.stride : best_stride(n, s);
  return limit_amplification(bare_cyclic_mds(n, s, stride), *limit);
}

}  // namespace paceline
