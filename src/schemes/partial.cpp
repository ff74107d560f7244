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
// Source: ramamoorthy2024leveraging. Differs: a message per chunk as soon as it is done, where the
// paper has workers report progress, and send one message when they are asked to; polynomials
// instead of random matrices, since weights must be known before it is known who finishes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "schemes/scheme_catalog.hpp"

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

  /// sum over the positions of |decoding| |encoding|, the lengths being those over the parts.
  double amplification(const std::vector<int>& positions) const {
    double sum = 0;
    for (int which = 0; which < parts(); ++which) {
      double in = 0;
      double out = 0;
      for (int u = 0; u < parts(); ++u) {
        in += std::pow(encoding(positions[static_cast<std::size_t>(which)], u), 2);
        out += std::pow(decoding(positions, which, u), 2);
      }
      sum += std::sqrt(in * out);
    }
    return sum;
  }

  /// The largest over all choices of m positions.
  double worst_amplification() const {
    const auto r = static_cast<int>(points_.size());
    std::vector<bool> chosen(points_.size(), false);
    std::fill(chosen.begin(), chosen.begin() + parts(), true);
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
  PartialResults(SchemeInfo info, int holders, PartsByPosition parts)
      : info_(std::move(info)), holders_(holders), parts_(std::move(parts)) {
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
    RoundPlan plan{lists_};
    for (auto& list : plan.per_worker) {
      for (MiniTask& task : list) task.job = JobId{round.value};
    }
    return plan;
  }

  /// Worker i has done chunks i ... i + done - 1: counts who comes and goes around the ring, twice,
  /// since lists reach over its end. O(n).
  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
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
    return std::ranges::all_of(came, [&](int workers) { return workers >= parts_.parts(); });
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

  /// Of the workers that have done the chunk, the m that had it earliest in their lists.
  void add_chunk(int chunk, Round round, const Answers& answers, Decoding& decoding) const {
    const int m = parts_.parts();
    std::vector<int> positions;
    for (int p = 0; static_cast<int>(positions.size()) < m; ++p) {
      PACELINE_CHECK(p < holders_);
      const int worker = worker_at(chunk, p);
      if (answers.done[static_cast<std::size_t>(worker)] > p) positions.push_back(p);
    }
    for (int which = 0; which < m; ++which) {
      const int p = positions[static_cast<std::size_t>(which)];
      const MessageId message{WorkerId{worker_at(chunk, p)}, round, p};
      if (m == 1) decoding.terms.push_back({message});
      for (int u = 0; m > 1 && u < m; ++u) {
        decoding.terms.push_back({message, parts_.decoding(positions, which, u), 0, u});
      }
    }
    if (m == 1) return;
    decoding.amplification = std::max(decoding.amplification, parts_.amplification(positions));
  }

  SchemeInfo info_;
  int holders_;
  PartsByPosition parts_;
  std::vector<std::vector<MiniTask>> lists_;  ///< of a round, but for the job
  Round next_{0};
};

Expected<std::unique_ptr<Scheme>> make_partial(ParameterText& parameters,
                                               const SchemeContext& context) {
  constexpr int kMostHolders = 12;  // with parts: all choices of m of them are looked at
  const int n = context.workers;
  const int holders = parameters.integer("r", 1, n);
  const int m = parameters.integer("m", 1, holders, 1);
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
  info.workers = n;
  info.amplification_limit = m > 1 ? parts.worst_amplification() : 1;
  const MessageType type = context.message_type;
  const double promised = promised_error(type);
  info.error_bound = decode_error_bound(info.amplification_limit, 0, n, type);
  if (context.keep_promise && info.error_bound > promised) {
    int fitting = m - 1;
    while (fitting > 1 &&
           decode_error_bound(PartsByPosition(holders, fitting).worst_amplification(), 0, n, type) >
               promised) {
      --fitting;
    }
    return invalid(fmt::format(
        "partial:r={},m={} may magnify rounding {:.3g} times, which bounds the error by {:.2g}; "
        "promised is {:.0e}; with r={} at most m={}",
        holders,
        m,
        info.amplification_limit,
        info.error_bound,
        promised,
        holders,
        fitting));
  }
  return std::unique_ptr<Scheme>(
      std::make_unique<PartialResults>(std::move(info), holders, std::move(parts)));
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
           .parameters = {{"r", "1 <= r <= n", "workers that hold a chunk; messages per worker"},
                          {"m",
                           "1 <= m <= r",
                           "messages of d/m numbers; every chunk must come m times (1)"}},
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
