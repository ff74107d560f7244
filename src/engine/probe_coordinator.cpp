#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/probe.hpp"

namespace paceline {
namespace {

class ProbeCoordinator final : public Coordinator {
 public:
  explicit ProbeCoordinator(const ProbePlan& plan) : plan_(plan) {
    for (std::size_t k = 0; k < plan.loads.size(); ++k) {
      rows_.emplace_back(
          std::vector<Term>{{.chunk = ChunkId{0}, .count = static_cast<int>(k) + 1}});
    }
  }

  Actions start(Seconds now) override {
    Actions actions;
    open_round(now, actions);
    return actions;
  }

  Actions on(const Event& event, Seconds now) override {
    Actions actions;
    if (finished_) return actions;
    if (const auto* arrived = std::get_if<Arrived>(&event)) {
      on_arrived(arrived->result, now, actions);
    } else if (std::get<TimerFired>(event).timer == round_.value) {
      give_up(actions);
    }
    return actions;
  }

  std::unique_ptr<Coordinator> clone() const override {
    return std::make_unique<ProbeCoordinator>(*this);
  }

 private:
  void open_round(Seconds now, Actions& actions) {
    opened_ = now;
    answers_ = Answers(plan_.workers);
    answered_ = 0;
    const int k = plan_.load_of(round_);
    const std::size_t load = k < 0 ? rows_.size() - 1 : static_cast<std::size_t>(k);
    for (int i = 0; i < plan_.workers; ++i) {
      Order order{WorkerId{i}, round_, 0, {}};
      order.tasks.push_back(
          {message(i), JobId{0}, ModelId{0}, Version{0}, rows_[load], plan_.loads[load]});
      actions.emplace_back(Send{std::move(order)});
    }
    if (plan_.patience != kNever) actions.emplace_back(Arm{round_.value, now + plan_.patience});
  }

  MessageId message(int worker) const { return {WorkerId{worker}, round_, 0}; }

  void on_arrived(const Result& result, Seconds now, Actions& actions) {
    PACELINE_CHECK(result.round == round_ && answers_.done.at(result.worker.index()) == 0);
    answers_.done[result.worker.index()] = 1;
    answers_.time[result.worker.index()] = now - opened_;
    answers_.compute[result.worker.index()] = result.compute;
    answers_.waited[result.worker.index()] = result.waited;
    if (++answered_ < plan_.workers) return;
    close_round(now, actions);
    if (round_.value <= plan_.rounds * static_cast<int>(plan_.loads.size())) {
      open_round(now, actions);
    } else {
      finished_ = true;
      actions.emplace_back(Finish{});
    }
  }

  void close_round(Seconds now, Actions& actions) {
    Drop drop;
    for (int i = 0; i < plan_.workers; ++i) drop.messages.push_back(message(i));
    RoundRecord record;
    record.round = round_;
    record.opened = opened_;
    record.closed = now;
    record.busy = plan_.workers;
    record.stragglers = WorkerSet(plan_.workers);
    record.answers = std::move(answers_);
    actions.emplace_back(std::move(drop));
    actions.emplace_back(std::move(record));
    ++round_.value;
  }

  void give_up(Actions& actions) {
    std::vector<int> missing;
    for (int i = 0; i < plan_.workers; ++i) {
      if (answers_.done[static_cast<std::size_t>(i)] == 1) continue;
      missing.push_back(i);
      actions.emplace_back(Stop{WorkerId{i}, round_});
    }
    finished_ = true;
    actions.emplace_back(Finish{fmt::format("round {}: no answer within {:g} s from worker{} {}",
                                            round_.value,
                                            plan_.patience.count(),
                                            missing.size() == 1 ? "" : "s",
                                            fmt::join(missing, ", "))});
  }

  ProbePlan plan_;
  std::vector<Row> rows_;  ///< by load
  Round round_{0};
  Seconds opened_{0};
  Answers answers_;
  int answered_ = 0;
  bool finished_ = false;
};

/// How many samples stand for each load, ascending.
Expected<std::vector<int>> samples_of(const ProbeOptions& options) {
  std::vector<int> samples;
  for (const double load : options.loads) {
    if (!(load >= 0 && load <= 1)) {
      return invalid(fmt::format("load {} is not allowed; 0 <= load <= 1", load));
    }
    samples.push_back(std::max(1, static_cast<int>(std::lround(load * options.batch_size))));
  }
  std::sort(samples.begin(), samples.end());
  const auto same = std::adjacent_find(samples.begin(), samples.end());
  if (same != samples.end()) {
    return invalid(
        fmt::format("loads {}: two of them are {} of {} samples; allowed: loads that differ by a "
                    "sample, or a larger batch",
                    fmt::join(options.loads, ","),
                    *same,
                    options.batch_size));
  }
  return samples;
}

}  // namespace

Expected<ProbePlan> plan_probe(const ProbeOptions& options) {
  for (const auto& [name, value] : {std::pair{"workers", options.workers},
                                    std::pair{"batch", options.batch_size},
                                    std::pair{"rounds", options.rounds}}) {
    if (value < 1) return invalid(fmt::format("{}={} is not allowed; {} >= 1", name, value, name));
  }
  if (!(options.patience.count() > 0)) {
    return invalid(
        fmt::format("patience={} is not allowed; > 0 seconds", options.patience.count()));
  }
  if (options.loads.empty()) return invalid("a probe needs at least one load, 0 ... 1");
  const auto samples = samples_of(options);
  if (!samples) return Unexpected(samples.error());
  ProbePlan plan;
  plan.workers = options.workers;
  plan.rounds = options.rounds;
  plan.patience = options.patience;
  int before = 0;
  for (const int count : *samples) {
    plan.loads.push_back(static_cast<double>(count) / options.batch_size);
    plan.chunk_size.push_back(static_cast<double>(count - before) / options.batch_size);
    before = count;
  }
  plan.chunk_size.push_back(static_cast<double>(options.batch_size - before) / options.batch_size);
  return plan;
}

std::unique_ptr<Coordinator> make_probe_coordinator(const ProbePlan& plan) {
  return std::make_unique<ProbeCoordinator>(plan);
}

}  // namespace paceline
