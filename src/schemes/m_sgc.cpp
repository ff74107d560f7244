// M-SGC: multiplexed sequential gradient coding. In round r every worker does one mini-task for
// each of the K = W-1+B jobs t = r-K+1 ... r; p = r-t is the slot of the job. In slots 0 ... W-2 a
// worker computes its W-1 pieces of the uncoded data, one each. In slot W-1+q it repeats the oldest
// piece it still owes, or, when it owes none, sends its coded message of group q. Repeats take the
// place of coded messages, so a failure costs little, and the code makes up for the coded messages
// that are missing.
//
// All that decides is how many pieces of a job a worker owes (attempted, not arrived). The round
// may close on a set of answers iff for every open job
//   - each worker can still bring what it owes: at most B pieces while first attempts go on, at
//     most the slots that are left afterwards;
//   - the workers that owed nothing before and have answered can decode: in slots >= W-1 they are
//     who delivers the group of this slot, before that who will deliver group 0. Later groups get
//     at least as many, since a worker that owes nothing never owes again in slots >= W-1.
// Everything is applied as it comes: the pieces at once, each group at the end of its slot, since
// nothing of it arrives later.
//
// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023), M-SGC, whose jobs, rounds and workers count from
// 1. Other codes inside the groups, the balance of sizes for them and the feasibility test are
// ours.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "paceline/arrivals.hpp"
#include "paceline/check.hpp"
#include "paceline/straggler_model.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/m_sgc_layout.hpp"
#include "schemes/scheme_catalog.hpp"

namespace paceline {
namespace {

constexpr int kLongestCycle = 256;

class Multiplexed final : public Scheme {
 public:
  Multiplexed(SchemeInfo info, MSgcLayout layout, MSgcParameters parameters, CloseRule rule)
      : info_(std::move(info)),
        layout_(std::make_shared<const MSgcLayout>(std::move(layout))),
        n_(parameters.workers),
        burst_(parameters.B),
        pieces_(parameters.W - 1),
        slots_(parameters.W - 1 + parameters.B),
        rule_(rule),
        model_(StragglerModel::bursty(n_, burst_, parameters.W, parameters.lambda)),
        jobs_(static_cast<std::size_t>(slots_), OpenJob(n_, pieces_)),
        everybody_(WorkerSet::all(n_)),
        must_answer_(n_),
        scratch_(n_),
        scratch_before_(n_) {
    for (const double load : layout_->coded_load) PACELINE_CHECK(load == layout_->data_load);
    info_.workers = n_;
    info_.decode_delay = slots_ - 1;
    info_.open_jobs = slots_;
    info_.messages_per_round = slots_;
    info_.chunk_size = layout_->chunk_size;
    info_.load = slots_ * layout_->data_load;
    info_.storage = pieces_ * layout_->data_load;
    if (layout_->code != nullptr) {  // mini-tasks cost the same, but not all of them one pass
      info_.storage += burst_ * layout_->data_load / layout_->code->backward_passes;
    }
    load_of_.assign(1, 0.0);
    while (static_cast<int>(load_of_.size()) <= slots_) {
      load_of_.push_back(load_of_.back() + layout_->data_load);
    }
    count_tasks();
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    plan.per_worker.resize(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      plan.per_worker[i].reserve(static_cast<std::size_t>(tasks_[i]));
      for (int t = -early_idle(); t < 0; ++t) {
        plan.per_worker[i].push_back({JobId{t}, Row(), layout_->data_load});
      }
      for (int t = oldest_job(); t <= round.value; ++t) {
        const Work work = work_of(job(t), static_cast<int>(i), round.value - t);
        if (is_listed(work)) plan.per_worker[i].push_back(mini_task(work, i, t));
      }
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    return may_pass(round, missing_in(answers));
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    const WorkerSet missing = missing_in(answers);
    PACELINE_CHECK(may_pass(round, missing));
    std::vector<Decoding> decodings;
    std::vector<int> position(tasks_.size(), early_idle());  // in each worker's list
    for (int t = oldest_job(); t <= round.value; ++t) {
      Decoding decoding = collect(t, round, missing, position);
      decoding.complete = settle(job(t), round.value - t, missing);
      if (decoding.complete) {
        decoding.residual = job(t).residual;
        decoding.amplification = job(t).amplification;
      }
      if (decoding.complete || !decoding.terms.empty()) decodings.push_back(std::move(decoding));
    }
    open_next_round(missing);
    return decodings;
  }

  bool timeless() const override { return true; }

  int loads(Round round, int jobs, std::span<double> loads) const override {
    PACELINE_CHECK(round == next_);
    int everyone = jobs == kEndless ? early_idle() : 0;  // tasks that are on every list
    WorkerSet& others = scratch_;                        // who has tasks besides
    others.clear();
    for (int t = oldest_job(); t <= std::min(round.value, jobs - 1); ++t) {
      if (has_work_for_all(round.value - t)) {
        ++everyone;
      } else {
        others |= job(t).owing;
      }
    }
    const double load = everyone > 0 ? load_of(everyone) : kNoWork;
    std::fill(loads.data(), loads.data() + loads.size(), load);
    others.for_each([&](WorkerId worker) {
      int count = everyone;
      for (int t = oldest_job(); t <= std::min(round.value, jobs - 1); ++t) {
        const bool extra = !has_work_for_all(round.value - t) && job(t).owing.contains(worker);
        count += extra ? 1 : 0;
      }
      loads[worker.index()] = load_of(count);
    });
    return everyone > 0 ? n_ : others.size();
  }

  bool may_pass(Round round, const WorkerSet& missing) const override {
    PACELINE_CHECK(round == next_);
    if (missing.empty()) return true;
    if (rule_ != CloseRule::kDecodable && !model_.accepts(missing)) return false;
    return !missing.intersects(must_answer_) && (!coded() || can_decode_groups(missing));
  }

  Moment first_pass(Round round, Arrivals& arrivals) const override {
    PACELINE_CHECK(round == next_);
    if (rule_ != CloseRule::kDecodable || !coded() || !layout_->code->first_decodable ||
        arrivals.busy_count() < n_) {
      return Scheme::first_pass(round, arrivals);
    }
    // Each condition of may_pass() has a first moment of its own.
    Moment first = kBeforeAnswers;
    must_answer_.for_each(
        [&](WorkerId worker) { first = std::max(first, answer_of(arrivals, worker)); });
    const WorkerSet* before = nullptr;
    for (int t = next_.value; t >= oldest_job(); --t) {
      const WorkerSet& owing = job(t).owing;
      if (before != nullptr && owing == *before) continue;
      before = &owing;
      Arrivals& able = owing.empty() ? arrivals : arrivals.without(owing);
      first = std::max(first, layout_->code->first_decodable(able));
    }
    return first == kAfterAllTime ? arrivals.last() : first;  // all answers are always enough
  }

  int pass(Round round, const WorkerSet& missing, int jobs) override {
    PACELINE_DCHECK(may_pass(round, missing));
    int decoded = 0;
    for (int t = oldest_job(); t <= round.value; ++t) {
      const bool complete = settle(job(t), round.value - t, missing);
      decoded += complete && t < jobs ? 1 : 0;
    }
    open_next_round(missing);
    return decoded;
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Multiplexed>(*this); }

 private:
  struct OpenJob {
    OpenJob(int workers, int pieces)
        : owed(static_cast<std::size_t>(workers), 0),
          owing(workers),
          arrived(static_cast<std::size_t>(workers) * static_cast<std::size_t>(pieces), 0) {}

    void clear() {
      std::ranges::fill(owed, 0);
      owing.clear();
      decoded = false;
      std::ranges::fill(arrived, std::uint8_t{0});
      residual = 0;
      amplification = 1;
    }

    std::vector<int> owed;  ///< pieces of worker i that were attempted in vain
    WorkerSet owing;        ///< who owes any
    bool decoded = false;

    // only where messages are made
    std::vector<std::uint8_t> arrived;  ///< piece c of worker i: entry i (W-1) + c
    double residual = 0;                ///< of the groups so far
    double amplification = 1;           ///< largest of the groups so far
  };

  /// One mini-task: a piece, the message of a group, or (both negative) nothing.
  struct Work {
    int piece = -1;
    int group = -1;
  };

  bool coded() const { return layout_->code != nullptr; }

  int oldest_job() const { return std::max(0, next_.value - slots_ + 1); }

  OpenJob& job(int t) { return jobs_[static_cast<std::size_t>(t % slots_)]; }

  const OpenJob& job(int t) const { return jobs_[static_cast<std::size_t>(t % slots_)]; }

  Work work_of(const OpenJob& job, int worker, int slot) const {
    if (slot < pieces_) return {.piece = slot};
    if (job.owed[static_cast<std::size_t>(worker)] > 0) {
      const auto first = job.arrived.begin() + std::ptrdiff_t{worker} * pieces_;
      return {.piece = static_cast<int>(std::find(first, first + pieces_, 0) - first)};
    }
    return coded() ? Work{.group = slot - pieces_} : Work{};
  }

  std::size_t piece_index(int worker, int piece) const {
    return static_cast<std::size_t>(worker) * static_cast<std::size_t>(pieces_) +
           static_cast<std::size_t>(piece);
  }

  /// The published program charges full lists from the first round on: so many idle entries stand
  /// for the jobs before the first.
  int early_idle() const {
    return rule_ == CloseRule::kPublished ? std::max(0, slots_ - 1 - next_.value) : 0;
  }

  /// It runs and charges idle slots too.
  bool is_listed(const Work& work) const {
    return work.piece >= 0 || work.group >= 0 || rule_ == CloseRule::kPublished;
  }

  MiniTask mini_task(const Work& work, std::size_t worker, int t) const {
    if (work.group >= 0) {
      const std::size_t row = static_cast<std::size_t>(work.group * n_) + worker;
      return {JobId{t}, layout_->coded_rows[row], layout_->coded_load[worker]};
    }
    if (work.piece < 0) return {JobId{t}, Row(), layout_->data_load};
    const std::size_t row = piece_index(static_cast<int>(worker), work.piece);
    return {JobId{t}, layout_->data_rows[row], layout_->data_load};
  }

  void count_tasks() {
    tasks_.assign(static_cast<std::size_t>(n_), early_idle() + next_.value - oldest_job() + 1);
    if (coded() || rule_ == CloseRule::kPublished) return;
    for (int t = oldest_job(); t <= next_.value - pieces_; ++t) {
      for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i] -= job(t).owed[i] == 0 ? 1 : 0;
    }
  }

  /// Every worker has a task of a job in this slot, whatever it owes.
  bool has_work_for_all(int slot) const {
    return slot < pieces_ || coded() || rule_ == CloseRule::kPublished;
  }

  /// All mini-tasks cost the same.
  double load_of(int tasks) const { return load_of_[static_cast<std::size_t>(tasks)]; }

  WorkerSet missing_in(const Answers& answers) const {
    WorkerSet missing(n_);
    for (int i = 0; i < n_; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (answers.done[index] < tasks_[index]) missing.insert(WorkerId{i});
    }
    return missing;
  }

  static Moment answer_of(const Arrivals& arrivals, WorkerId worker) {
    const Moment answer = arrivals.moment(worker);
    return answer.at == kNever ? kAfterAllTime : answer;
  }

  /// Whether every group of every open job can still be decoded: see the top of this file.
  bool can_decode_groups(const WorkerSet& missing) const {
    if (n_ - missing.size() < fewest_answers(*layout_->code)) return false;
    scratch_before_.clear();  // the set of the job before, which is often the same
    for (int t = next_.value; t >= oldest_job(); --t) {
      scratch_ = everybody_;
      scratch_ -= missing;
      scratch_ -= job(t).owing;
      if (scratch_ != scratch_before_ && !layout_->code->decodable(scratch_)) return false;
      std::swap(scratch_, scratch_before_);
    }
    return true;
  }

  /// The books of a job whose round in this slot ends. @return whether it is complete now
  bool settle(OpenJob& job, int slot, const WorkerSet& missing) {
    if (slot < pieces_) {
      missing.for_each([&](WorkerId worker) { ++job.owed[worker.index()]; });
      job.owing |= missing;
    } else {
      job.owing.for_each([&](WorkerId worker) {
        if (missing.contains(worker)) return;
        if (--job.owed[worker.index()] == 0) job.owing.erase(worker);
      });
    }
    const bool last = slot == slots_ - 1 || (!coded() && is_early(job, slot));
    const bool complete = last && !job.decoded;
    job.decoded = job.decoded || last;
    return complete;
  }

  void open_next_round(const WorkerSet& missing) {
    model_.push(missing);
    ++next_.value;
    job(next_.value).clear();
    must_answer_.clear();
    for (int t = oldest_job(); t < next_.value; ++t) {
      const int slot = next_.value - t;
      const int most = slot < pieces_ ? burst_ : slots_ - slot;  // may be owed before this round
      job(t).owing.for_each([&](WorkerId worker) {
        if (job(t).owed[worker.index()] >= most) must_answer_.insert(worker);
      });
    }
    count_tasks();
  }

  /// What arrived for job t in this round, as an instalment. To be called before settle().
  Decoding collect(int t, Round round, const WorkerSet& missing, std::vector<int>& position) {
    OpenJob& job = this->job(t);
    const int slot = round.value - t;
    Decoding decoding;
    decoding.job = JobId{t};
    WorkerSet delivered(n_);  // messages of this slot's group
    for (int i = 0; i < n_; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const Work work = work_of(job, i, slot);
      const int task = position[index];
      if (is_listed(work)) ++position[index];
      if (missing.contains(WorkerId{i})) continue;
      if (work.group >= 0) delivered.insert(WorkerId{i});
      if (work.piece < 0) continue;
      job.arrived[piece_index(i, work.piece)] = 1;
      decoding.terms.push_back({{WorkerId{i}, round, task}});
    }
    if (coded() && slot >= pieces_) add_group(delivered, round, position, job, decoding);
    return decoding;
  }

  /// @param position  the group's messages come just before it in their workers' lists
  void add_group(const WorkerSet& delivered,
                 Round round,
                 const std::vector<int>& position,
                 OpenJob& job,
                 Decoding& decoding) const {
    const GradientCode& code = *layout_->code;
    const std::optional<Combination> combination = code.decode(delivered);
    PACELINE_CHECK(combination.has_value());
    const auto message_of = [&](WorkerId i) {
      return MessageId{i, round, position[i.index()] - 1};
    };
    add_terms(*combination, message_of, decoding);
    const auto chunks = static_cast<double>(layout_->chunk_size.size());
    job.residual += combination->residual * code.chunks / chunks;
    job.amplification = std::max(job.amplification, combination->amplification);
  }

  /// Without coded data a job is done with its last piece; the published program waits for its
  /// last slot all the same.
  bool is_early(const OpenJob& job, int slot) const {
    return rule_ != CloseRule::kPublished && slot >= pieces_ - 1 && job.owing.empty();
  }

  SchemeInfo info_;
  std::shared_ptr<const MSgcLayout> layout_;
  int n_;
  int burst_;   ///< B
  int pieces_;  ///< W-1 pieces per worker
  int slots_;   ///< K = W-1+B
  CloseRule rule_;
  Round next_{0};
  StragglerModel model_;
  std::vector<OpenJob> jobs_;    ///< job t in entry t mod K
  std::vector<int> tasks_;       ///< length of each worker's list in the next round
  std::vector<double> load_of_;  ///< so many mini-tasks, added up in order
  WorkerSet everybody_;
  WorkerSet must_answer_;  ///< who could not bring all its pieces if it missed the next round

  // kept so that asking allocates nothing
  mutable WorkerSet scratch_;
  mutable WorkerSet scratch_before_;
};

Expected<std::unique_ptr<Scheme>> make_m_sgc(ParameterText& parameters,
                                             const SchemeContext& context) {
  const int n = context.workers;
  const int B = parameters.integer("B", 1, kLongestCycle);
  const int W = parameters.integer("W", 2, kLongestCycle);
  const int lambda = parameters.integer("lambda", 0, n);
  const std::string name = read_code_name(parameters, context);
  if (B >= W) {
    parameters.fail(fmt::format(
        "B={}, W={}: B must be less than W; the nearest are B={} or W={}", B, W, W - 1, B + 1));
  }
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());

  SchemeInfo info;
  info.name = "m-sgc";
  info.parameters = fmt::format("B={},W={},lambda={}", B, W, lambda);
  SharedCode code;
  if (lambda < n) {
    Expected<SharedCode> built = build_code(name, lambda, context);
    if (!built) return Unexpected(built.error());
    code = *std::move(built);
    info.parameters += fmt::format(",code={}", code->name);
  }
  const MSgcParameters sizes{.workers = n, .B = B, .W = W, .lambda = lambda};
  MSgcLayout layout = make_m_sgc_layout(sizes, code);
  const int chunks = static_cast<int>(layout.chunk_size.size());
  describe_code(code.get(), context, chunks, info);
  return std::unique_ptr<Scheme>(
      std::make_unique<Multiplexed>(std::move(info), std::move(layout), sizes, context.rule));
}

std::vector<SearchFamily> search_m_sgc(const SearchLimits& limits) {
  SearchFamily family{.name = "m-sgc", .lines = {}};
  for (int W = 2; W <= limits.models; ++W) {
    for (int B = 1; B < W && W - 1 + B <= limits.models; ++B) {
      for (const std::string& code : searched_codes()) {
        family.lines.push_back({0, limits.workers, [=](int lambda) {
                                  return fmt::format(
                                      "m-sgc:B={},W={},lambda={},code={}", B, W, lambda, code);
                                }});
      }
    }
  }
  return {std::move(family)};
}

}  // namespace

SchemeEntry m_sgc_entry() {
  return {{.name = "m-sgc",
           .summary = "multiplexed: most data uncoded and repeated on failure, the rest coded",
           .parameters = {{"B", "1 <= B < W", "longest burst, in rounds"},
                          {"W", "2 <= W <= 256", "window, in rounds"},
                          {"lambda", "0 <= lambda <= n", "distinct stragglers in a window"},
                          code_parameter()},
           .load = "(lambda+1)(W-1+B) / (n (B + (W-1)(lambda+1))); lambda = n: (W-1+B)/(n (W-1))",
           .decode_delay = "W-2+B",
           .source = "Krishnan, Ebrahimi, Khisti (ICLR 2023), M-SGC",
           .example = "m-sgc:B=1,W=2,lambda=3,code=repetition"},
          make_m_sgc,
          true,
          search_m_sgc};
}

}  // namespace paceline
