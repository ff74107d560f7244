// Nested codes: one round for every number of stragglers. A worker's chunks come in such an order
// that the first ones are its share of a code for no straggler, a few more that of a code for one,
// and so on up to s; a round ends when one of the codes decodes from the workers that have done
// its share. Nobody says in advance how many will straggle: with none a round takes as long as
// uncoded, and slow workers count for what they did.
//
// Chunks follow each other around the ring (worker i does i, i+1, ..., i+s), and any cyclic code
// serves at each step. With repetition steps double: groups are cut into halves (or thirds, ...),
// and a worker does its own chunk, then the rest of its small group, then that of the next one.
//
// A message is the plain sum of the chunks of one step; what the code of a step weighs them with is
// applied by the master, which is possible since a code weighs all chunks of a step alike. So a
// worker sends a message per step, up to s+1 of them, or log s with repetition.
//
// Source: massny2022nested (reconstructed from its abstract). Differs: the paper's workers keep the
// gradients, signal their progress, and send one message when they hear for which code.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "paceline/check.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/scheme_catalog.hpp"
#include "schemes/task_lists.hpp"

namespace paceline {
namespace {

/// Chunks of the whole that make up a chunk of a code: n chunks of the whole, cut into as many
/// blocks as the code has chunks.
int block_size(const GradientCode& code) { return code.workers() / code.chunks; }

/// The chunks of the whole that worker i holds in a code, ascending.
std::vector<int> held_in(const GradientCode& code, int worker) {
  const int size = block_size(code);
  std::vector<int> held;
  for (const Term& term : code.rows[WorkerId{worker}.index()].terms()) {
    const int begin = term.chunk.value * size;
    for (int j = begin; j < begin + term.count * size; ++j) held.push_back(j);
  }
  std::ranges::sort(held);
  held.erase(std::unique(held.begin(), held.end()),
             held.end());  // codes on parts name chunks twice
  return held;
}

class NestedCodes final : public Scheme {
 public:
  /// @param codes  of the steps, each for all n workers; a worker's chunks in one are among those
  /// in
  ///               the next
  NestedCodes(SchemeInfo info, std::vector<SharedCode> codes)
      : info_(std::move(info)), codes_(std::move(codes)) {
    const int n = info_.workers;
    info_.one_by_one = true;
    info_.messages_per_round = static_cast<int>(codes_.size());
    info_.load = info_.storage = static_cast<double>(held_in(*codes_.back(), 0).size()) / n;
    info_.chunk_size.assign(static_cast<std::size_t>(n), 1.0 / n);
    for (int i = 0; i < n; ++i) {
      std::vector<MiniTask> list;
      std::vector<int> first;
      std::vector<int> before;
      for (const SharedCode& code : codes_) {
        const std::vector<int> held = held_in(*code, i);
        std::vector<Term> step;
        for (const int j : held) {
          if (!std::ranges::binary_search(before, j)) step.push_back({ChunkId{j}});
        }
        PACELINE_CHECK(!step.empty() && held.size() == before.size() + step.size());
        first.push_back(step.front().chunk.value);
        const double load = static_cast<double>(step.size()) / n;
        list.push_back({JobId{0}, Row(std::move(step)), load});
        before = held;
      }
      lists_.push_back(std::move(list));
      first_chunks_.push_back(std::move(first));
    }
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    return plan_of(lists_, JobId{round.value});
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    return first_code(answers) < codes_.size();
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(round == next_);
    const std::size_t step = first_code(answers);
    PACELINE_CHECK(step < codes_.size());
    const GradientCode& code = *codes_[step];
    const Combination combination = code.decode(done_with(step, answers)).value();
    Decoding decoding;
    decoding.job = JobId{round.value};
    decoding.residual = combination.residual;
    decoding.amplification = combination.amplification;
    for (const WorkerWeight& term : combination.terms) add(term, code, step, round, decoding);
    ++next_.value;
    return {decoding};
  }

  bool answers_decide() const override { return true; }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<NestedCodes>(*this); }

 private:
  WorkerSet done_with(std::size_t step, const Answers& answers) const {
    WorkerSet set(info_.workers);
    for (int i = 0; i < info_.workers; ++i) {
      const bool done = answers.done[static_cast<std::size_t>(i)] > static_cast<int>(step);
      if (done) set.insert(WorkerId{i});
    }
    return set;
  }

  /// The first step whose code decodes; past the last one if none does.
  std::size_t first_code(const Answers& answers) const {
    std::size_t step = 0;
    while (step < codes_.size() && !codes_[step]->decodable(done_with(step, answers))) ++step;
    return step;
  }

  /// The worker's message in the code of a step is a sum of its messages up to there, each with the
  /// weight that the code gives to the chunks of that message.
  void add(const WorkerWeight& term,
           const GradientCode& code,
           std::size_t step,
           Round round,
           Decoding& decoding) const {
    for (std::size_t m = 0; m <= step; ++m) {
      const int chunk = first_chunks_[term.worker.index()][m] / block_size(code);
      const MessageId message{term.worker, round, static_cast<int>(m)};
      for (const Term& inner : code.rows[term.worker.index()].terms()) {
        const bool here = inner.chunk.value <= chunk && chunk < inner.chunk.value + inner.count;
        if (!here || inner.segment != term.segment) continue;
        // What is part of a gradient for the row is a segment of the plain message.
        decoding.terms.push_back({message, term.weight * inner.weight, inner.part, term.part});
      }
    }
  }

  SchemeInfo info_;
  std::vector<SharedCode> codes_;               ///< of the steps
  std::vector<std::vector<MiniTask>> lists_;    ///< of a round, but for the job
  std::vector<std::vector<int>> first_chunks_;  ///< shape (n, steps): one chunk of each message
  Round next_{0};
};

/// Groups of 1, ..., s+1 workers, each size a multiple of the one before, in as small steps as
/// there are.
Expected<std::vector<SharedCode>> nested_groups(int workers, int stragglers) {
  std::vector<int> sizes = {1};
  for (int rest = stragglers + 1, factor = 2; rest > 1; ++factor) {
    for (; rest % factor == 0; rest /= factor) sizes.push_back(sizes.back() * factor);
  }
  std::vector<SharedCode> codes;
  for (const int size : sizes) {
    auto code =
        make_fractional_repetition({.workers = workers, .groups = workers / size, .mixed = false});
    if (!code) return Unexpected(code.error());
    codes.push_back(std::make_shared<const GradientCode>(std::move(code).value()));
  }
  return codes;
}

Expected<std::unique_ptr<Scheme>> make_nested(ParameterText& parameters,
                                              const SchemeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  std::string name = read_code_name(parameters, context);
  const bool even = n % (s + 1) == 0;
  if (name == "auto") name = even ? "repetition" : "mds";
  if (name == "repetition" && !even) {
    std::string fitting;
    for (int size = 1; size <= n; ++size) {
      if (n % size == 0) fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", size - 1);
    }
    parameters.fail(fmt::format(
        "groups need s+1 to divide {} workers, s={} does not; allowed: {}", n, s, fitting));
  }
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  SchemeInfo info;
  info.name = "nested";
  info.parameters = fmt::format("s={},code={}", s, name);
  info.workers = n;
  std::vector<SharedCode> codes;
  if (name == "repetition") {
    auto groups = nested_groups(n, s);
    if (!groups) return Unexpected(groups.error());
    codes = *std::move(groups);
  } else {
    for (int tolerance = 0; tolerance <= s; ++tolerance) {
      auto code = build_code(name, tolerance, context);
      if (!code) return Unexpected(code.error());
      codes.push_back(*std::move(code));
    }
  }
  // The first ones may do without parts, which changes nothing for them.
  const auto most_parts =
      std::ranges::max_element(codes, {}, [](const SharedCode& code) { return code->shape.parts; });
  describe_code(most_parts->get(), context, n, info);
  return std::unique_ptr<Scheme>(std::make_unique<NestedCodes>(std::move(info), std::move(codes)));
}

}  // namespace

SchemeEntry nested_entry() {
  return {{.name = "nested",
           .summary = "codes for 0, 1, ..., s stragglers at once: a round ends with the first that "
                      "decodes",
           .parameters = {{"s", "0 <= s <= n-1; repetition: s+1 divides n", "most stragglers"},
                          {"code",
                           "repetition|cyclic|mds|auto",
                           "groups that double, or a step per chunk (repetition if s+1 divides n, "
                           "else mds)"}},
           .load = "(s+1)/n",
           .decode_delay = "0",
           .source = "Massny, Hofmeister, Egger, Bitar, Wachter-Zeh, Nested Gradient Codes (2022)",
           .example = "nested:s=3"},
          make_nested};
}

}  // namespace paceline
