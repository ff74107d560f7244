// Partial results: chunk j lies on r neighbours, each of whom works through its r chunks in turn
// and sends every chunk's gradient when it has it. A round ends when every chunk has come from
// somebody, so whatever a slow worker did counts. Load and storage are those of gradient coding,
// and there are no weights that could magnify rounding, but up to r messages per worker.
//
// Worker i does chunks i, i+1, ..., i+r-1 (modulo n): every chunk comes first in one list, second
// in another, and so on, which is the best order there is: whenever n r - r (r+1)/2 + 1 chunk
// computations are done, whoever did them, the round can end.
//
// With m > 1 messages are shorter, d/m numbers, and every chunk must come from m workers, for which
// r + (r-1) + ... (m-1 terms) computations more are enough. A chunk's
// gradient is cut into m parts, taken as the values of a polynomial of degree m-1 at m points; the
// worker that does the chunk as its p-th sends the value at the point x_p, and any m values give
// the polynomial. The points are those of Chebyshev, from the ends inwards.
//
// With residual=x a round may end with that much missing. Of a chunk that came from c < m workers
// the shortest weights still decode the share c/m: what its c messages span (the pseudo-inverse).
//
// Source: ramamoorthy2024leveraging. Differs: a message per chunk as soon as it is done, where the
// paper has workers report progress, and send one message when they are asked to; polynomials
// instead of random matrices, since weights must be known before it is known who finishes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "schemes/scheme_catalog.hpp"
#include "schemes/task_lists.hpp"

namespace paceline {
namespace {

double chebyshev_point(int index, int count) {
  return std::cos((2 * index + 1) * std::numbers::pi / (2 * count));
}

/// How a gradient is cut into m parts, and what the worker that comes p-th sends of them.
class PartsByPosition {
 public:
  PartsByPosition(int positions, int parts) {
    for (int u = 0; u < parts; ++u) part_points_.push_back(chebyshev_point(u, parts));
    for (int p = 0; p < positions; ++p) {
      const int inwards = p % 2 == 0 ? p / 2 : positions - 1 - p / 2;
      points_.push_back(chebyshev_point(inwards, positions));
    }
  }

  int parts() const { return static_cast<int>(part_points_.size()); }

  /// Of part u in the message of the worker that comes p-th.
  double encoding(int position, int part) const {
    return lagrange(part_points_, part, points_[static_cast<std::size_t>(position)]);
  }

  /// Of the message of the `which`-th of these positions in part u. @param positions  m of them
  double decoding(const std::vector<int>& positions, int which, int part) const {
    std::vector<double> points;
    for (const int p : positions) points.push_back(points_[static_cast<std::size_t>(p)]);
    return lagrange(points, which, part_points_[static_cast<std::size_t>(part)]);
  }

  /// The shortest weights for messages from fewer than m positions: D = E^+, where row i of E has
  /// what the i-th message sends of the parts; D E projects on what they span. By orthonormal rows
  /// E = L Q (Gram, Schmidt), so that D = Q^T L^-1.
  /// @return shape (positions, m): of each message in each part
  std::vector<std::vector<double>> least_squares(const std::vector<int>& positions) const {
    const auto m = static_cast<std::size_t>(parts());
    std::vector<std::vector<double>> Q;
    std::vector<std::vector<double>> inverse;  // of L: row i has Q_i in terms of the messages
    for (const int position : positions) {
      std::vector<double> row;
      for (int u = 0; u < parts(); ++u) row.push_back(encoding(position, u));
      std::vector<double> from(positions.size(), 0.0);
      from[Q.size()] = 1;
      for (std::size_t q = 0; q < Q.size(); ++q) {
        const double along = std::inner_product(row.begin(), row.end(), Q[q].begin(), 0.0);
        for (std::size_t u = 0; u < m; ++u) row[u] -= along * Q[q][u];
        for (std::size_t i = 0; i < from.size(); ++i) from[i] -= along * inverse[q][i];
      }
      const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
      for (double& x : row) x /= length;
      for (double& x : from) x /= length;
      Q.push_back(std::move(row));
      inverse.push_back(std::move(from));
    }
    std::vector<std::vector<double>> D(positions.size(), std::vector<double>(m, 0.0));
    for (std::size_t q = 0; q < Q.size(); ++q) {
      for (std::size_t i = 0; i < D.size(); ++i) {
        for (std::size_t u = 0; u < m; ++u) D[i][u] += inverse[q][i] * Q[q][u];
      }
    }
    return D;
  }

  /// The weights of these positions' messages, at most m of them, in each part.
  std::vector<std::vector<double>> weights(const std::vector<int>& positions) const {
    const auto count = static_cast<int>(positions.size());
    if (count < parts()) return least_squares(positions);
    std::vector<std::vector<double>> D(positions.size());
    for (int which = 0; which < count; ++which) {
      for (int u = 0; u < parts(); ++u) {
        D[static_cast<std::size_t>(which)].push_back(decoding(positions, which, u));
      }
    }
    return D;
  }

  /// sum over the positions of |weights| |encoding|, the lengths being those over the parts.
  double amplification(const std::vector<int>& positions) const {
    const std::vector<std::vector<double>> D = weights(positions);
    double sum = 0;
    for (std::size_t which = 0; which < positions.size(); ++which) {
      double in = 0;
      double out = 0;
      for (int u = 0; u < parts(); ++u) {
        in += std::pow(encoding(positions[which], u), 2);
        out += std::pow(D[which][static_cast<std::size_t>(u)], 2);
      }
      sum += std::sqrt(in * out);
    }
    return sum;
  }

  /// The largest over all choices of so many positions.
  double worst_amplification(int count) const {
    const auto r = static_cast<int>(points_.size());
    std::vector<bool> chosen(points_.size(), false);
    std::fill(chosen.begin(), chosen.begin() + count, true);
    double worst = 0;
    do {
      std::vector<int> positions;
      for (int p = 0; p < r; ++p) {
        if (chosen[static_cast<std::size_t>(p)]) positions.push_back(p);
      }
      worst = std::max(worst, amplification(positions));
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return worst;
  }

 private:
  /// At x, the polynomial that is 1 at points[which] and 0 at the others.
  static double lagrange(const std::vector<double>& points, int which, double x) {
    const double own = points[static_cast<std::size_t>(which)];
    double value = 1;
    for (const double other : points) {
      if (other != own) value *= (x - other) / (own - other);
    }
    return value;
  }

  std::vector<double> part_points_;  ///< shape (m)
  std::vector<double> points_;       ///< shape (r)
};

class PartialResults final : public Scheme {
 public:
  PartialResults(SchemeInfo info, int holders, PartsByPosition parts, double most_residual)
      : info_(std::move(info)),
        holders_(holders),
        parts_(std::move(parts)),
        most_residual_(most_residual) {
    const int n = info_.workers;
    info_.one_by_one = true;
    info_.load = info_.storage = static_cast<double>(holders) / n;
    info_.messages_per_round = holders;
    info_.chunk_size.assign(static_cast<std::size_t>(n), 1.0 / n);
    for (int i = 0; i < n; ++i) {
      std::vector<MiniTask> list;
      for (int p = 0; p < holders; ++p) {
        list.push_back({JobId{0}, row_of(ChunkId{(i + p) % n}, p), 1.0 / n});
      }
      lists_.push_back(std::move(list));
    }
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    return plan_of(lists_, JobId{round.value});
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    const int m = parts_.parts();
    int missing = 0;  // messages
    for (const int workers : holders_done(answers)) missing += std::max(0, m - workers);
    return missing <= most_residual_ * m * info_.workers + 1e-9;
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(may_close(round, answers));
    Decoding decoding;
    decoding.job = JobId{round.value};
    for (int chunk = 0; chunk < info_.workers; ++chunk) add_chunk(chunk, round, answers, decoding);
    ++next_.value;
    return {decoding};
  }

  bool answers_decide() const override { return true; }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<PartialResults>(*this); }

 private:
  /// From how many workers each chunk has come. Worker i has done chunks i ... i + done - 1: counts
  /// who comes and goes around the ring, twice, since lists reach over its end. O(n).
  std::vector<int> holders_done(const Answers& answers) const {
    const auto n = static_cast<std::size_t>(info_.workers);
    std::vector<int> change(2 * n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      ++change[i];
      --change[i + static_cast<std::size_t>(answers.done[i])];
    }
    std::vector<int> came(n, 0);
    int here = 0;
    for (std::size_t at = 0; at < 2 * n; ++at) {
      here += change[at];
      came[at % n] += here;
    }
    return came;
  }

  Row row_of(ChunkId chunk, int position) const {
    if (parts_.parts() == 1) return Row({Term{chunk}});
    std::vector<Term> terms;
    for (int u = 0; u < parts_.parts(); ++u) {
      terms.push_back({chunk, parts_.encoding(position, u), u, 0});
    }
    return Row(std::move(terms));
  }

  int worker_at(int chunk, int position) const {
    return (chunk - position + info_.workers) % info_.workers;
  }

  /// Of the workers that have done the chunk, the m that had it earliest in their lists, or all.
  void add_chunk(int chunk, Round round, const Answers& answers, Decoding& decoding) const {
    const int m = parts_.parts();
    std::vector<int> positions;
    for (int p = 0; p < holders_ && static_cast<int>(positions.size()) < m; ++p) {
      const int worker = worker_at(chunk, p);
      if (answers.done[static_cast<std::size_t>(worker)] > p) positions.push_back(p);
    }
    decoding.residual +=
        (m - static_cast<double>(positions.size())) / (static_cast<double>(m) * info_.workers);
    if (positions.empty()) return;
    const std::vector<std::vector<double>> weights =
        m > 1 ? parts_.weights(positions) : std::vector<std::vector<double>>();
    for (std::size_t which = 0; which < positions.size(); ++which) {
      const int p = positions[which];
      const MessageId message{WorkerId{worker_at(chunk, p)}, round, p};
      if (m == 1) decoding.terms.push_back({message});
      for (int u = 0; m > 1 && u < m; ++u) {
        decoding.terms.push_back({message, weights[which][static_cast<std::size_t>(u)], 0, u});
      }
    }
    if (m == 1) return;
    decoding.amplification = std::max(decoding.amplification, parts_.amplification(positions));
  }

  SchemeInfo info_;
  int holders_;
  PartsByPosition parts_;
  double most_residual_;
  std::vector<std::vector<MiniTask>> lists_;  ///< of a round, but for the job
  Round next_{0};
};

/// No decoding magnifies rounding more. @param fewer  chunks may also come less than m times
double partial_amplification(const PartsByPosition& parts, bool fewer) {
  double worst = 1;
  if (parts.parts() == 1) return worst;
  for (int count = fewer ? 1 : parts.parts(); count <= parts.parts(); ++count) {
    worst = std::max(worst, parts.worst_amplification(count));
  }
  return worst;
}

Expected<std::unique_ptr<Scheme>> make_partial(ParameterText& parameters,
                                               const SchemeContext& context) {
  constexpr int kMostHolders = 12;  // with parts: all choices of m of them are looked at
  const int n = context.workers;
  const int holders = parameters.integer("r", 1, n);
  const int m = parameters.integer("m", 1, holders, 1);
  const double residual = parameters.number("residual", 0, 0.999, 0);
  if (m > 1 && holders > kMostHolders) {
    parameters.fail(fmt::format("r={} is too many for m > 1; at most {}", holders, kMostHolders));
  }
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  PartsByPosition parts(holders, m);
  SchemeInfo info;
  info.name = "partial";
  info.parameters = fmt::format("r={}", holders);
  if (m > 1) {
    info.parameters += fmt::format(",m={}", m);
    info.shape = {.parts = m, .segments = 1};
  }
  if (residual > 0) info.parameters += fmt::format(",residual={:g}", residual);
  info.workers = n;
  info.amplification_limit = partial_amplification(parts, residual > 0);
  const MessageType type = context.message_type;
  const double promised = promised_error(type);
  const auto rounding = [&](int fewer_parts) {
    const PartsByPosition cut(holders, fewer_parts);
    return decode_error_bound(partial_amplification(cut, residual > 0), 0, n, type);
  };
  info.error_bound = decode_error_bound(info.amplification_limit, residual, n, type);
  if (context.keep_promise && rounding(m) > promised) {
    int fitting = m - 1;
    while (fitting > 1 && rounding(fitting) > promised) --fitting;
    return invalid(fmt::format(
        "partial:r={},m={} may magnify rounding {:.3g} times, which bounds the error by {:.2g}; "
        "promised is {:.0e}; with r={} at most m={}",
        holders,
        m,
        info.amplification_limit,
        rounding(m),
        promised,
        holders,
        fitting));
  }
  return std::unique_ptr<Scheme>(
      std::make_unique<PartialResults>(std::move(info), holders, std::move(parts), residual));
}

/// By the number of holders, as long as one can imagine that somebody sends so many messages.
std::vector<SearchFamily> search_partial(const SearchLimits& limits) {
  constexpr int kMostMessages = 16;
  const int most = static_cast<int>(limits.storage * limits.workers + 1e-9);
  SearchFamily family{.name = "partial", .lines = {}, .only_eager = true, .knows_rules = false};
  family.lines.push_back({2, std::min(most, kMostMessages), [](int holders) {
                            return "partial:r=" + std::to_string(holders);
                          }});
  return {std::move(family)};
}

}  // namespace

SchemeEntry partial_entry() {
  return {{.name = "partial",
           .summary = "each chunk on r workers, sent when it is done: what slow workers did counts",
           .parameters =
               {{"r", "1 <= r <= n", "workers that hold a chunk; messages per worker"},
                {"m", "1 <= m <= r", "messages of d/m numbers; every chunk must come m times (1)"},
                {"residual", "0 <= residual < 1", "a round may end with so much missing (0)"}},
           .load = "r/n",
           .decode_delay = "0",
           .source = "Ramamoorthy, Meng, Girimaji, Leveraging Partial Stragglers within Gradient "
                     "Coding (NeurIPS 2024)",
           .example = "partial:r=3"},
          make_partial,
          true,
          search_partial};
}

}  // namespace paceline
