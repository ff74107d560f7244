// Partial results: chunk j lies on r neighbours, each of whom works through its r chunks in turn
// and sends every chunk's gradient when it has it. A round ends when every chunk has come from
// somebody, so whatever a slow worker did counts. Load and storage are those of gradient coding,
// and there are no weights that could magnify rounding, but up to r messages per worker.
//
// Worker i does chunks i, i+1, ..., i+r-1 (modulo n): every chunk comes first in one list, second
// in another, and so on, which is the best order there is: whenever n r - r (r+1)/2 + 1 chunk
// computations are done, whoever did them, the round can end.
//
// Source: ramamoorthy2024leveraging (one part, m = 1). Differs: a message per chunk as soon as it
// is done, where the paper has workers report progress, and send one message when they are asked
// to.
#include <algorithm>
#include <memory>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "schemes/scheme_catalog.hpp"

namespace paceline {
namespace {

class PartialResults final : public Scheme {
 public:
  PartialResults(int workers, int holders, MessageType type) : holders_(holders) {
    info_.name = "partial";
    info_.parameters = "r=" + std::to_string(holders);
    info_.workers = workers;
    info_.one_by_one = true;
    info_.load = info_.storage = static_cast<double>(holders) / workers;
    info_.messages_per_round = holders;
    info_.chunk_size.assign(static_cast<std::size_t>(workers), 1.0 / workers);
    info_.amplification_limit = 1;
    info_.error_bound = decode_error_bound(1, 0, workers, type);
    for (int j = 0; j < workers; ++j) rows_.push_back(Row({Term{ChunkId{j}}}));
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    plan.per_worker.resize(rows_.size());
    for (int i = 0; i < info_.workers; ++i) {
      for (int p = 0; p < holders_; ++p) {
        const auto chunk = static_cast<std::size_t>((i + p) % info_.workers);
        plan.per_worker[static_cast<std::size_t>(i)].push_back(
            {JobId{round.value}, rows_[chunk], 1.0 / info_.workers});
      }
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    bool all = true;
    for_each_chunk(answers, [&](int /*chunk*/, int worker) {
      all = worker >= 0;
      return all;
    });
    return all;
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(may_close(round, answers));
    Decoding decoding;
    decoding.job = JobId{round.value};
    for_each_chunk(answers, [&](int chunk, int worker) {
      const int task = (chunk - worker + info_.workers) % info_.workers;
      decoding.terms.push_back({MessageId{WorkerId{worker}, round, task}});
      return true;
    });
    ++next_.value;
    return {decoding};
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<PartialResults>(*this); }

 private:
  /// visit(chunk, one of the workers it has come from, or -1), until it says false. Worker i's
  /// chunks end before i + done[i], so the worker that reaches farthest has the next chunk if
  /// anybody has. Once around the ring to find who reaches over its beginning, once to visit: O(n).
  template <class Visit>
  void for_each_chunk(const Answers& answers, const Visit& visit) const {
    const int n = info_.workers;
    int farthest = -1;
    int end = -n;  // of its chunks
    for (int at = -n; at < n; ++at) {
      const int worker = (at + n) % n;
      const int done = answers.done[static_cast<std::size_t>(worker)];
      if (done > 0 && at + done > end) {
        farthest = worker;
        end = at + done;
      }
      if (at >= 0 && !visit(at, end > at ? farthest : -1)) return;
    }
  }

  SchemeInfo info_;
  int holders_;
  std::vector<Row> rows_;  ///< shape (n): chunk j alone
  Round next_{0};
};

Expected<std::unique_ptr<Scheme>> make_partial(ParameterText& parameters,
                                               const SchemeContext& context) {
  const int holders = parameters.integer("r", 1, context.workers);
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  return std::unique_ptr<Scheme>(
      std::make_unique<PartialResults>(context.workers, holders, context.message_type));
}

}  // namespace

SchemeEntry partial_entry() {
  return {{.name = "partial",
           .summary = "each chunk on r workers, sent when it is done: what slow workers did counts",
           .parameters = {{"r", "1 <= r <= n", "workers that hold a chunk; messages per worker"}},
           .load = "r/n",
           .decode_delay = "0",
           .source = "Ramamoorthy, Meng, Girimaji, Leveraging Partial Stragglers within Gradient "
                     "Coding (NeurIPS 2024)",
           .example = "partial:r=3"},
          make_partial};
}

}  // namespace paceline
