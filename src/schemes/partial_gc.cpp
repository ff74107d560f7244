// Gradient coding for stragglers that are slow, not gone: a worker first computes `own` chunks that
// nobody else has and sends their plain sum, then its chunks of a gradient code on the rest of the
// data and sends the coded sum. A round ends when all first messages are there, and second ones
// that decode. Where s workers are slower than the others by a factor of at most alpha = 1 +
// (s+1)/own, they finish their own part no later than the others finish everything, for a load of
// alpha (s+1) / (n (s+alpha)) instead of (s+1)/n. A worker that is gone is waited for for ever.
//
// Source: tandon2017gradient, section 5.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "paceline/check.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/scheme_catalog.hpp"
#include "schemes/task_lists.hpp"

namespace paceline {
namespace {

class PartialCoding final : public Scheme {
 public:
  PartialCoding(SchemeInfo info, SharedCode code, int own)
      : info_(std::move(info)), code_(std::move(code)) {
    const int n = code_->workers();
    const double coded = 1.0 / (own + 1);  // share of the data
    const std::vector<double> costs = message_costs(*code_);
    info_.workers = n;
    info_.one_by_one = true;
    info_.messages_per_round = 2;
    info_.chunk_size.assign(static_cast<std::size_t>(n), own * coded / n);
    for (const double size : code_->chunk_size) info_.chunk_size.push_back(size * coded);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::vector<Term> terms(code_->rows[at].terms().begin(), code_->rows[at].terms().end());
      for (Term& term : terms) term.chunk.value += n;  // behind the workers' own chunks
      lists_.push_back({{JobId{0}, Row({Term{ChunkId{i}}}), own * coded / n},
                        {JobId{0}, Row(std::move(terms)), costs[at] * coded}});
      info_.load = std::max(info_.load, lists_[at][0].load + lists_[at][1].load);
    }
    info_.storage = own * coded / n + code_->load * coded;
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    return plan_of(lists_, JobId{round.value});
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    for (const int done : answers.done) {
      if (done < 1) return false;
    }
    return code_->decodable(finished(answers));
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(round == next_);
    const std::optional<Combination> combination = code_->decode(finished(answers));
    PACELINE_CHECK(combination.has_value());
    Decoding decoding;
    decoding.job = JobId{round.value};
    decoding.amplification = combination->amplification;
    for (int i = 0; i < info_.workers; ++i) {
      PACELINE_CHECK(answers.done[static_cast<std::size_t>(i)] >= 1);
      decoding.terms.push_back({MessageId{WorkerId{i}, round, 0}});
    }
    add_terms(
        *combination,
        [&](WorkerId i) {
          return MessageId{i, round, 1};
        },
        decoding);
    ++next_.value;
    return {decoding};
  }

  bool answers_decide() const override { return true; }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<PartialCoding>(*this); }

 private:
  WorkerSet finished(const Answers& answers) const {
    WorkerSet set(info_.workers);
    for (int i = 0; i < info_.workers; ++i) {
      if (answers.done[static_cast<std::size_t>(i)] == 2) set.insert(WorkerId{i});
    }
    return set;
  }

  SchemeInfo info_;
  SharedCode code_;
  std::vector<std::vector<MiniTask>> lists_;  ///< of a round, but for the job
  Round next_{0};
};

Expected<std::unique_ptr<Scheme>> make_partial_gc(ParameterText& parameters,
                                                  const SchemeContext& context) {
  const int s = parameters.integer("s", 0, context.workers - 1);
  const int own = parameters.integer("own", 1, 1'000'000);
  const std::string name = read_code_name(parameters, context);
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  Expected<SharedCode> code = build_code(name, s, context);
  if (!code) return Unexpected(code.error());
  SchemeInfo info;
  info.name = "partial-gc";
  info.parameters = fmt::format("s={},own={},code={}", s, own, (*code)->name);
  describe_code(code->get(), context, context.workers + (*code)->chunks, info);
  return std::unique_ptr<Scheme>(
      std::make_unique<PartialCoding>(std::move(info), *std::move(code), own));
}

/// Half of the data without redundancy, for stragglers s+2 times as slow as the others, or four
/// fifths of it. With groups, which decode from more sets than other codes.
std::vector<SearchFamily> search_partial_gc(const SearchLimits& limits) {
  SearchFamily family{.name = "partial-gc", .lines = {}, .only_eager = true, .knows_rules = false};
  for (const int own : {1, 4}) {
    const double coded = limits.storage * (own + 1) - 1.0 * own / limits.workers;  // at most
    const int most = coded > 0 ? most_stragglers("repetition", limits.workers, coded) : 0;
    family.lines.push_back({1, std::min(most, limits.workers - 2), [own](int s) {
                              return fmt::format("partial-gc:s={},own={},code=repetition", s, own);
                            }});
  }
  return {std::move(family)};
}

}  // namespace

SchemeEntry partial_gc_entry() {
  return {{.name = "partial-gc",
           .summary = "own chunks first, then coded ones: stragglers that are slow, never gone",
           .parameters = {{"s", "0 <= s <= n-1", "workers that may be slow"},
                          {"own",
                           "own >= 1",
                           "chunks of a worker alone; enough for workers 1 + (s+1)/own as slow"},
                          code_parameter()},
           .load = "(own+s+1)/(n(own+1))",
           .decode_delay = "0",
           .source = "Tandon et al., Gradient Coding (ICML 2017), section 5",
           .example = "partial-gc:s=2,own=3"},
          make_partial_gc,
          true,
          search_partial_gc};
}

}  // namespace paceline
