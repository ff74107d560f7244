// SR-SGC: gradient coding whose jobs get a second chance. Job t opens in round t. If the answers of
// that round do not decode it, just as many workers as it still needs repeat their message for it
// in round t+B, and all others do the job of that round. Bursts of at most B rounds cannot hit a
// worker in both rounds, so a code for s = ceil(lambda / (x+1)) stragglers per round, x = (W-1)/B,
// survives lambda distinct stragglers per window of W rounds.
//
// Who repeats is a minimal set that makes the job decodable if all of it answers: for cyclic and
// MDS codes the lowest-numbered v-s of the v workers that did not contribute, for repetition codes
// one member of each group without an answer. Since the set is minimal, the job that is due decodes
// exactly when no worker of it straggles; since waiting for such a set is always possible, no later
// job can become impossible. So "nobody who repeats is missing" is the whole feasibility test.
//
// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023), SR-SGC, whose jobs, rounds and workers count from
// 1 and which takes any v-s workers. The group-wise repair, the feasibility test and accepting
// clean rounds at once are ours.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/straggler_model.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/scheme_catalog.hpp"

namespace paceline {
namespace {

struct Bursts {
  int B = 1;
  int W = 2;
  int lambda = 0;
};

class SelectiveReattempt final : public Scheme {
 public:
  SelectiveReattempt(SchemeInfo info, SharedCode code, Bursts bursts, CloseRule rule)
      : info_(std::move(info)),
        code_(std::move(code)),
        costs_(message_costs(*code_)),
        burst_(bursts.B),
        rule_(rule),
        model_(StragglerModel::bursty(code_->workers(), bursts.B, bursts.W, bursts.lambda)),
        open_(static_cast<std::size_t>(bursts.B), OpenJob{WorkerSet(code_->workers())}),
        nobody_(code_->workers()),
        repairs_(code_->workers()) {
    info_.workers = code_->workers();
    info_.decode_delay = burst_;
    info_.open_jobs = burst_ + 1;
    info_.chunk_size = code_->chunk_size;
    info_.load = *std::ranges::max_element(costs_);
    info_.storage = code_->load;
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    plan.per_worker.resize(costs_.size());
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      const bool repeats = repairs_.contains(WorkerId{static_cast<int>(i)});
      const JobId job{repeats ? round.value - burst_ : round.value};
      plan.per_worker[i].push_back({job, code_->rows[i], costs_[i]});
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
    const WorkerSet repaired = repairs_;
    const OpenJob& slot = open_[static_cast<std::size_t>(round.value % burst_)];
    if (!repaired.empty()) {  // the slot still holds the job that is due
      WorkerSet all = slot.answered;
      all |= repaired;
      decodings.push_back(decode(JobId{round.value - burst_}, all, repaired, round));
    }
    pass(round, missing, kEndless);
    if (slot.decoded) {
      decodings.push_back(decode(JobId{round.value}, slot.answered, nobody_, round));
    }
    return decodings;
  }

  bool timeless() const override { return true; }

  int loads(Round round, int jobs, std::span<double> loads) const override {
    PACELINE_CHECK(round == next_);
    const bool starts = round.value < jobs;
    std::copy(costs_.begin(), costs_.end(), loads.data());  // as a block of memory
    if (starts) return info_.workers;  // whoever repeats does so for an older job
    std::ranges::fill(loads, kNoWork);
    if (round.value - burst_ >= jobs) return 0;
    repairs_.for_each([&](WorkerId worker) { loads[worker.index()] = costs_[worker.index()]; });
    return repairs_.size();
  }

  bool may_pass(Round round, const WorkerSet& missing) const override {
    PACELINE_CHECK(round == next_);
    if (missing.intersects(repairs_)) return false;
    if (rule_ == CloseRule::kDecodable || missing.empty()) return true;
    if (rule_ == CloseRule::kModel && is_clean(missing.size())) return true;
    return model_.accepts(missing);
  }

  Moment first_pass(Round round, Arrivals& arrivals) const override {
    PACELINE_CHECK(round == next_);
    if (rule_ != CloseRule::kDecodable) return Scheme::first_pass(round, arrivals);
    Moment last = kBeforeAnswers;
    repairs_.for_each([&](WorkerId worker) {
      if (arrivals.busy().contains(worker)) last = std::max(last, arrivals.moment(worker));
    });
    return last.at == kNever ? kAfterAllTime : last;
  }

  int pass(Round round, const WorkerSet& missing, int jobs) override {
    PACELINE_DCHECK(may_pass(round, missing));
    OpenJob& slot = open_[static_cast<std::size_t>(round.value % burst_)];
    int decoded = !repairs_.empty() && round.value - burst_ < jobs ? 1 : 0;
    slot.answered = everybody_;
    slot.answered -= missing;
    slot.answered -= repairs_;
    slot.decoded = code_->decodable(slot.answered);
    decoded += slot.decoded && round.value < jobs ? 1 : 0;
    // Stragglers of clean rounds cost nothing later, so the model need not know them.
    model_.push(is_clean(missing.size()) ? nobody_ : missing);
    ++next_.value;
    choose_repairs();
    return decoded;
  }

  std::unique_ptr<Scheme> clone() const override {
    return std::make_unique<SelectiveReattempt>(*this);
  }

 private:
  struct OpenJob {
    WorkerSet answered;   ///< in the job's first round
    bool decoded = true;  ///< also where there is no job yet
  };

  WorkerSet missing_in(const Answers& answers) const {
    WorkerSet missing(info_.workers);
    for (int i = 0; i < info_.workers; ++i) {
      if (answers.done[static_cast<std::size_t>(i)] == 0) missing.insert(WorkerId{i});
    }
    return missing;
  }

  bool is_clean(int missing) const { return repairs_.empty() && missing <= code_->tolerance; }

  /// The job from `all`: its repeated messages come from this round, the others from its first.
  Decoding decode(JobId job, const WorkerSet& all, const WorkerSet& repeated, Round round) const {
    const std::optional<Combination> combination = code_->decode(all);
    PACELINE_CHECK(combination.has_value());
    Decoding decoding;
    decoding.job = job;
    decoding.residual = combination->residual;
    decoding.amplification = combination->amplification;
    const auto message_of = [&](WorkerId i) {
      return MessageId{i, repeated.contains(i) ? round : Round{job.value}, 0};
    };
    add_terms(*combination, message_of, decoding);
    return decoding;
  }

  /// A minimal set of workers that makes the job due in the next round decodable: first the
  /// shortest sufficient run of the lowest-numbered workers that did not contribute, then whoever
  /// of them is not needed leaves, the highest first.
  void choose_repairs() {
    repairs_.clear();
    const OpenJob& due = open_[static_cast<std::size_t>(next_.value % burst_)];
    if (due.decoded) return;
    absent_.clear();
    trial_ = everybody_;
    trial_ -= due.answered;
    trial_.for_each([&](WorkerId worker) { absent_.push_back(worker); });
    const auto with_first = [&](std::size_t count) -> WorkerSet& {
      trial_ = due.answered;
      for (std::size_t k = 0; k < count; ++k) trial_.insert(absent_[k]);
      return trial_;
    };
    std::size_t low = 0;  // too few
    std::size_t high = absent_.size();
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (code_->decodable(with_first(middle)) ? high : low) = middle;
    }
    WorkerSet& set = with_first(high);
    repairs_.insert(absent_[high - 1]);  // without this one the run would not suffice
    for (std::size_t k = high - 1; k-- > 0;) {
      set.erase(absent_[k]);
      if (code_->decodable(set)) continue;
      set.insert(absent_[k]);
      repairs_.insert(absent_[k]);
    }
  }

  SchemeInfo info_;
  SharedCode code_;
  std::vector<double> costs_;
  int burst_;  ///< B
  CloseRule rule_;
  Round next_{0};
  StragglerModel model_;
  std::vector<OpenJob> open_;  ///< job t in entry t mod B, until round t+B closes
  WorkerSet nobody_;
  WorkerSet everybody_ = nobody_.complement();
  WorkerSet repairs_;  ///< who repeats a message in the next round

  // of choose_repairs, kept so that a round allocates nothing
  std::vector<WorkerId> absent_;
  WorkerSet trial_ = nobody_;
};

/// "3" or "3 or 5": the windows nearest to W that B divides when taken minus 1.
std::string nearest_windows(int B, int W) {
  const int below = (W - 1) / B * B + 1;
  const int above = below + B;
  if (below <= B || above - W < W - below) return fmt::format("{}", above);
  if (above - W > W - below) return fmt::format("{}", below);
  return fmt::format("{} or {}", below, above);
}

Expected<std::unique_ptr<Scheme>> make_sr_sgc(ParameterText& parameters,
                                              const SchemeContext& context) {
  const int n = context.workers;
  Bursts bursts;
  bursts.B = parameters.integer("B", 1, kLongestWindow - 1);
  bursts.W = parameters.integer("W", 2, kLongestWindow);
  bursts.lambda = parameters.integer("lambda", 0, n);
  const std::string name = read_code_name(parameters, context);
  const auto [B, W, lambda] = bursts;
  if ((W - 1) % B != 0) {
    parameters.fail(fmt::format(
        "B={}, W={}: B must divide W-1; the nearest is W={}", B, W, nearest_windows(B, W)));
  }
  const int attempts = (W - 1) / B + 1;
  const int s = (lambda + attempts - 1) / attempts;
  if (s >= n) {
    parameters.fail(fmt::format(
        "lambda={} needs a code for {} of {} workers; the nearest is lambda=0", lambda, s, n));
  }
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());

  Expected<SharedCode> code = build_code(name, s, context);
  if (!code) return Unexpected(code.error());
  SchemeInfo info;
  info.name = "sr-sgc";
  info.parameters = fmt::format("B={},W={},lambda={},code={}", B, W, lambda, (*code)->name);
  describe_code(code->get(), context, (*code)->chunks, info);
  return std::unique_ptr<Scheme>(std::make_unique<SelectiveReattempt>(
      std::move(info), *std::move(code), bursts, context.rule));
}

/// For each s the largest lambda it serves, since a larger lambda only accepts more patterns. W
/// says how soon a worker may straggle again, which the rule "model" alone asks.
std::vector<SearchFamily> search_sr_sgc(const SearchLimits& limits) {
  const int n = limits.workers;
  SearchFamily family{.name = "sr-sgc", .lines = {}};
  for (int B = 1; B < limits.models; ++B) {
    for (const int x : {1, 2}) {
      for (const std::string& code : searched_codes()) {
        const int W = x * B + 1;
        const int most = std::min(most_stragglers(code, n, limits.storage), n / (x + 1));
        family.lines.push_back(
            {1, most, [=](int s) {
               return fmt::format("sr-sgc:B={},W={},lambda={},code={}", B, W, s * (x + 1), code);
             }});
      }
    }
  }
  return {std::move(family)};
}

}  // namespace

SchemeEntry sr_sgc_entry() {
  return {{.name = "sr-sgc",
           .summary = "gradient coding with selective re-attempts B rounds later",
           .parameters = {{"B", "B >= 1, B divides W-1", "longest burst, in rounds"},
                          {"W", "2 <= W <= 1024", "window, in rounds"},
                          {"lambda", "0 <= lambda <= n", "distinct stragglers in a window"},
                          code_parameter()},
           .load = "(s+1)/n, s = ceil(B lambda / (W-1+B)); repetition: 1/floor(n/(s+1))",
           .decode_delay = "B",
           .source = "Krishnan, Ebrahimi, Khisti (ICLR 2023), SR-SGC",
           .example = "sr-sgc:B=1,W=2,lambda=6,code=repetition"},
          make_sr_sgc,
          true,
          search_sr_sgc};
}

}  // namespace paceline
