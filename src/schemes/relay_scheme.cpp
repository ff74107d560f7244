#include "schemes/relay_scheme.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "paceline/check.hpp"
#include "schemes/relay_rounds.hpp"

namespace paceline::relay {
namespace {

/// Worker i has answered its first order.
bool has_answered(const Record& record, const Answers& answers, std::size_t i) {
  return record.ordered[i] > 0 && answers.done[i] >= record.ordered[i];
}

}  // namespace

Relay::Relay(SchemeInfo info,
             const Setting& setting,
             const std::vector<Setting>& candidates,
             const Game& game,
             const Habits& habits)
    : info_(std::move(info)), course_(setting, candidates, game, habits) {}

RoundPlan Relay::plan(Round round) const {
  PACELINE_CHECK(round == course_.now());
  if (!course_.is_open()) {
    course_.open();
    progress_.forget();
  }
  std::vector<MiniTask> tasks;  // copies share a row
  for (const Unit& unit : work().units) tasks.push_back(task_of(unit));
  RoundPlan plan;
  plan.per_worker.resize(work().first.size());
  for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
    if (current().ordered[i] == 0) continue;
    plan.per_worker[i].reserve(static_cast<std::size_t>(current().ordered[i]));
    plan.per_worker[i].push_back(tasks[static_cast<std::size_t>(work().first[i])]);
  }
  for (const Copy& copy : work().more) {
    if (copy.task >= current().ordered[copy.worker.index()]) continue;  // a rescue copy
    plan.per_worker[copy.worker.index()].push_back(tasks[static_cast<std::size_t>(copy.unit)]);
  }
  return plan;
}

bool Relay::may_close(Round round, const Answers& answers) const {
  PACELINE_CHECK(course_.is_open() && round == course_.now());
  progress_.follow(current(), answers);
  return progress_.may_close(course_.setting(), work());
}

RoundPlan Relay::more(Round round, const Answers& answers) {
  PACELINE_CHECK(course_.is_open() && round == course_.now());
  if (rescued_ && rescued_all_) return {};
  progress_.follow(current(), answers);
  if (!rescued_ && progress_.time_to_rescue(work())) {
    rescued_ = true;
    return rescue(overdue(course_.setting(), work(), progress_.done()), answers);
  }
  if (!rescued_all_ && only_debtors_missing(answers)) {
    rescued_all_ = true;
    if (!progress_.may_close(course_.setting(), work())) {
      return rescue(unanswered(work(), progress_.done()), answers);
    }
  }
  return {};
}

std::vector<Decoding> Relay::close(Round round, const Answers& answers) {
  PACELINE_CHECK(may_close(round, answers));
  take_samples(course_.current(), answers);
  settle_round(answers);
  double lasted = 0;
  for (const Seconds time : answers.time) {
    if (time < kNever) lasted = std::max(lasted, time.count());
  }
  const bool waited =
      std::ranges::any_of(answers.waited, [](Seconds each) { return each > Seconds{0}; });
  course_.close(lasted, waited);
  rescued_ = false;
  rescued_all_ = false;
  return take_complete_jobs();
}

std::vector<Decoding> Relay::late(const LateAnswer& answer) {
  const Record* record = course_.learn_late(answer);
  if (record == nullptr || !course_.habits().accept_late) return {};
  const std::vector<int> tasks = record->work.units_of(answer.worker);
  for (int task = 0; task < answer.done; ++task) {
    const auto unit = static_cast<std::size_t>(tasks[static_cast<std::size_t>(task)]);
    settle_late(record->work.units[unit], {answer.worker, answer.round, task});
  }
  return take_complete_jobs();
}

std::unique_ptr<WholeRounds> Relay::whole_rounds(const ResponseTimes& times) const {
  return std::make_unique<RelayRounds>(course_, times);
}

MiniTask Relay::task_of(const Unit& unit) const {
  return {unit.job,
          Row({Term{.chunk = ChunkId{unit.begin}, .count = unit.chunks()}}),
          static_cast<double>(unit.chunks()) / course_.game().chunks};
}

/// Everyone has answered but workers that have not answered an earlier round either.
bool Relay::only_debtors_missing(const Answers& answers) {
  for (std::size_t i = progress_.first_missing(current()); i < current().ordered.size(); ++i) {
    if (answers.done[i] >= current().ordered[i]) continue;
    if (course_.debt(WorkerId{static_cast<int>(i)}).none()) return false;
  }
  return true;
}

/// Copies of `units` for the workers that have nothing left to do, the earliest to answer first.
RoundPlan Relay::rescue(const std::vector<int>& units, const Answers& answers) {
  std::vector<WorkerId> helpers;
  for (std::size_t i = 0; i < current().ordered.size(); ++i) {
    const bool idle = answers.done[i] == work().count[i];
    if (idle && has_answered(current(), answers, i) && answers.time[i] < kNever) {
      helpers.push_back(WorkerId{static_cast<int>(i)});
    }
  }
  if (units.empty() || helpers.empty()) return {};
  std::ranges::stable_sort(helpers, [&](WorkerId a, WorkerId b) {
    return answers.time[a.index()] < answers.time[b.index()];
  });
  take_samples(course_.current(), answers);  // before the second answers hide the first ones
  progress_.forget();
  RoundPlan extra;
  extra.per_worker.resize(work().first.size());
  for (const Help& help : share_out(units, helpers, course_.game(), work())) {
    for (const int index : help.units) {
      const Unit& unit = work().units[static_cast<std::size_t>(index)];
      extra.per_worker[help.worker.index()].push_back(task_of(unit));
      course_.current().work.give(help.worker, index);
    }
  }
  return extra;
}

/// Every unit answered in this round is done by its first answer; equal times by worker.
void Relay::settle_round(const Answers& answers) {
  std::vector<std::optional<MessageId>> best(work().units.size());
  std::vector<Seconds> best_time(work().units.size(), kNever);
  const auto settle = [&](std::size_t i, int task, int unit_index) {
    if (task >= answers.done[i]) return;
    const auto unit = static_cast<std::size_t>(unit_index);
    // The time in `answers` is that of the last answer, which may be to a rescue copy.
    const bool first_order = task < current().ordered[i] && current().heard[i];
    const Seconds time = first_order ? Seconds(current().samples.took[i]) : answers.time[i];
    const MessageId message{WorkerId{static_cast<int>(i)}, course_.now(), task};
    const bool sooner = !best[unit] || time < best_time[unit] ||
                        (time == best_time[unit] && message.worker < best[unit]->worker);
    if (!sooner) return;
    best[unit] = message;
    best_time[unit] = time;
  };
  for (std::size_t i = 0; i < work().first.size(); ++i) settle(i, 0, work().first[i]);
  for (const Copy& copy : work().more) settle(copy.worker.index(), copy.task, copy.unit);
  for (std::size_t unit = 0; unit < best.size(); ++unit) {
    Unit& settled = course_.units()[unit];
    if (settled.done || !best[unit]) continue;
    settled.done = true;
    add_to_sum(settled, *best[unit]);
  }
}

/// A late message of a unit counts if nothing of the unit has been done since, by others or,
/// where it was split, in pieces.
void Relay::settle_late(const Unit& whole, MessageId message) {
  std::vector<Unit>& units = course_.units();
  const auto begin =
      std::lower_bound(units.begin(), units.end(), whole, [](const Unit& unit, const Unit& sought) {
        return unit.job != sought.job ? unit.job < sought.job : unit.begin < sought.begin;
      });
  int open = 0;
  auto end = begin;
  for (; end != units.end() && end->job == whole.job && end->end <= whole.end; ++end) {
    open += end->done ? 0 : end->chunks();
  }
  if (open < whole.chunks()) return;
  for (auto unit = begin; unit != end; ++unit) {
    unit->done = true;
    if (course_.is_open()) progress_.settle(work(), static_cast<int>(unit - units.begin()));
  }
  add_to_sum(whole, message);
}

void Relay::add_to_sum(const Unit& unit, MessageId message) {
  OpenSum& sum = sums_[unit.job];
  sum.chunks += unit.chunks();
  sum.terms.push_back({message});
}

std::vector<Decoding> Relay::take_complete_jobs() {
  std::vector<Decoding> decoded;
  for (auto sum = sums_.begin(); sum != sums_.end();) {
    if (sum->second.chunks < course_.game().chunks) {
      ++sum;
      continue;
    }
    decoded.push_back({sum->first, std::move(sum->second.terms)});
    sum = sums_.erase(sum);
  }
  return decoded;
}

}  // namespace paceline::relay
