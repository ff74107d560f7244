#include "schemes/relay_scheme.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "paceline/check.hpp"

namespace paceline::relay {
namespace {

/// By unit: done before, or answered now.
std::vector<char> done_units(const RoundWork& work, const Answers& answers) {
  std::vector<char> done;
  done.reserve(work.units.size());
  for (const Unit& unit : work.units) done.push_back(unit.done ? 1 : 0);
  for (std::size_t i = 0; i < work.first.size(); ++i) {
    if (answers.done[i] > 0 && work.count[i] > 0) done[static_cast<std::size_t>(work.first[i])] = 1;
  }
  for (const Copy& copy : work.more) {
    if (answers.done[copy.worker.index()] > copy.task)
      done[static_cast<std::size_t>(copy.unit)] = 1;
  }
  return done;
}

/// Worker i has answered its first order.
bool has_answered(const Record& record, const Answers& answers, std::size_t i) {
  return record.ordered[i] > 0 && answers.done[i] >= record.ordered[i];
}

/// Half of the busy workers have answered, or the last answer took four times as long as the
/// first (which stands for the half that may never come).
bool time_to_rescue(const Record& record, const Answers& answers) {
  int answered = 0;
  Seconds first = kNever;
  Seconds last{0};
  for (std::size_t i = 0; i < record.ordered.size(); ++i) {
    if (!has_answered(record, answers, i)) continue;
    ++answered;
    first = std::min(first, answers.time[i]);
    last = std::max(last, answers.time[i]);
  }
  return answered > 0 && (2 * answered >= record.work.busy || last >= 4 * first);
}

}  // namespace

Relay::Relay(SchemeInfo info,
             const Setting& setting,
             const std::vector<Setting>& candidates,
             const Game& game,
             const Habits& habits)
    : info_(std::move(info)),
      setting_(setting),
      game_(game),
      habits_(habits),
      workers_(static_cast<std::size_t>(game.workers)) {
  if (candidates.empty()) return;
  Game endless = game;
  endless.jobs = std::numeric_limits<int>::max();
  shadows_.emplace(endless, candidates, habits.accept_late && !habits.stops_stragglers);
}

RoundPlan Relay::plan(Round round) const {
  PACELINE_CHECK(round == now_);
  if (!opened_) open_round();
  std::vector<MiniTask> tasks;  // copies share a row
  for (const Unit& unit : work().units) tasks.push_back(task_of(unit));
  RoundPlan plan;
  plan.per_worker.resize(work().first.size());
  for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
    if (current_.ordered[i] == 0) continue;
    plan.per_worker[i].reserve(static_cast<std::size_t>(current_.ordered[i]));
    plan.per_worker[i].push_back(tasks[static_cast<std::size_t>(work().first[i])]);
  }
  for (const Copy& copy : work().more) {
    if (copy.task >= current_.ordered[copy.worker.index()]) continue;  // a rescue copy
    plan.per_worker[copy.worker.index()].push_back(tasks[static_cast<std::size_t>(copy.unit)]);
  }
  return plan;
}

bool Relay::may_close(Round round, const Answers& answers) const {
  PACELINE_CHECK(opened_ && round == now_);
  return relay::may_close(setting_, work(), done_units(work(), answers));
}

RoundPlan Relay::more(Round round, const Answers& answers) {
  PACELINE_CHECK(opened_ && round == now_);
  if (!rescued_ && time_to_rescue(current_, answers)) {
    rescued_ = true;
    return rescue(overdue(setting_, work(), done_units(work(), answers)), answers);
  }
  if (!rescued_all_ && only_debtors_missing(answers)) {
    rescued_all_ = true;
    const std::vector<char> done = done_units(work(), answers);
    if (!relay::may_close(setting_, work(), done)) {
      return rescue(unanswered(work(), done), answers);
    }
  }
  return {};
}

std::vector<Decoding> Relay::close(Round round, const Answers& answers) {
  PACELINE_CHECK(may_close(round, answers));
  take_samples(current_, answers);
  settle_round(answers);
  std::vector<Decoding> decoded = take_complete_jobs();
  keep_remainder(work(), left_);
  learn(answers);
  opened_ = false;
  rescued_ = false;
  rescued_all_ = false;
  ++now_.value;
  return decoded;
}

bool Relay::study() {
  if (!shadows_) return false;
  if (shadows_->study()) return true;
  std::vector<RoundTimes> guesses;
  for (const Record& record : records_) guesses.push_back(to_times(record));
  if (const auto best = shadows_->best(guesses)) setting_ = *best;
  return false;
}

bool Relay::spares_stragglers(Round round) const {
  if (!shadows_ || !is_probe(round)) return false;
  if (round == now_) return true;
  return std::ranges::any_of(records_,
                             [&](const Record& record) { return record.work.round == round; });
}

std::vector<Decoding> Relay::late(
    Round round, WorkerId worker, int done, Seconds took, Seconds compute) {
  const std::size_t i = worker.index();
  workers_[i].silent = 0;
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const Record& record) {
    return record.work.round == round;
  });
  if (found == records_.end()) return {};  // matured: the worker has been learned as missing
  if (!found->heard[i] && done >= found->ordered[i]) {
    take_sample(*found, worker, took.count(), compute.count());
    learn_late(workers_, *found, worker);
  }
  if (!habits_.accept_late) return {};
  const std::vector<int> tasks = found->work.units_of(worker);
  for (int task = 0; task < done; ++task) {
    const auto unit = static_cast<std::size_t>(tasks[static_cast<std::size_t>(task)]);
    settle_late(found->work.units[unit], {worker, round, task});
  }
  return take_complete_jobs();
}

MiniTask Relay::task_of(const Unit& unit) const {
  return {unit.job,
          Row({Term{.chunk = ChunkId{unit.begin}, .count = unit.chunks()}}),
          static_cast<double>(unit.chunks()) / game_.chunks};
}

void Relay::open_round() const {
  Forecast seen = forecast(workers_, setting_, game_, now_);
  RoundWork work;
  plan_round(setting_, game_, left_, now_, seen, work);
  current_ = open_record(std::move(work), std::move(seen), game_);
  opened_ = true;
}

std::vector<Unit>& Relay::open_units() { return opened_ ? current_.work.units : left_.units; }

/// Where stragglers are stopped, only rounds in which they are not teach how slow they are.
bool Relay::is_probe(Round round) const {
  constexpr int kFirst = 8;
  constexpr int kEvery = 8;
  return habits_.stops_stragglers && (round.value < kFirst || round.value % kEvery == 0);
}

/// Everyone has answered but workers that have not answered an earlier round either.
bool Relay::only_debtors_missing(const Answers& answers) const {
  for (std::size_t i = 0; i < current_.ordered.size(); ++i) {
    if (answers.done[i] >= current_.ordered[i] || workers_[i].silent > 0) continue;
    const bool owes =
        std::ranges::any_of(records_, [i](const Record& record) { return !record.heard[i]; });
    if (!owes) return false;
  }
  return true;
}

/// Copies of `units` for the workers that have nothing left to do, the earliest to answer first.
RoundPlan Relay::rescue(const std::vector<int>& units, const Answers& answers) {
  std::vector<WorkerId> helpers;
  for (std::size_t i = 0; i < current_.ordered.size(); ++i) {
    const bool idle = answers.done[i] == work().count[i];
    if (idle && has_answered(current_, answers, i) && answers.time[i] < kNever) {
      helpers.push_back(WorkerId{static_cast<int>(i)});
    }
  }
  if (units.empty() || helpers.empty()) return {};
  std::ranges::stable_sort(helpers, [&](WorkerId a, WorkerId b) {
    return answers.time[a.index()] < answers.time[b.index()];
  });
  take_samples(current_, answers);  // before the second answers hide the first ones
  RoundPlan extra;
  extra.per_worker.resize(work().first.size());
  for (const Help& help : share_out(units, helpers, game_, work())) {
    for (const int index : help.units) {
      const Unit& unit = work().units[static_cast<std::size_t>(index)];
      extra.per_worker[help.worker.index()].push_back(task_of(unit));
      current_.work.give(help.worker, index);
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
    const bool first_order = task < current_.ordered[i] && current_.heard[i];
    const Seconds time = first_order ? Seconds(current_.sample[i].took) : answers.time[i];
    const MessageId message{WorkerId{static_cast<int>(i)}, now_, task};
    const bool sooner = !best[unit] || time < best_time[unit] ||
                        (time == best_time[unit] && message.worker < best[unit]->worker);
    if (!sooner) return;
    best[unit] = message;
    best_time[unit] = time;
  };
  for (std::size_t i = 0; i < work().first.size(); ++i) settle(i, 0, work().first[i]);
  for (const Copy& copy : work().more) settle(copy.worker.index(), copy.task, copy.unit);
  for (std::size_t unit = 0; unit < best.size(); ++unit) {
    Unit& settled = current_.work.units[unit];
    if (settled.done || !best[unit]) continue;
    settled.done = true;
    add_to_sum(settled, *best[unit]);
  }
}

/// A late message of a unit counts if nothing of the unit has been done since, by others or,
/// where it was split, in pieces.
void Relay::settle_late(const Unit& whole, MessageId message) {
  int open = 0;
  const auto inside = [&](const Unit& unit) {
    return !unit.done && unit.job == whole.job && unit.begin >= whole.begin &&
           unit.end <= whole.end;
  };
  for (const Unit& unit : open_units()) open += inside(unit) ? unit.chunks() : 0;
  if (open < whole.chunks()) return;
  for (Unit& unit : open_units()) unit.done = unit.done || inside(unit);
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
    if (sum->second.chunks < game_.chunks) {
      ++sum;
      continue;
    }
    decoded.push_back({sum->first, std::move(sum->second.terms)});
    sum = sums_.erase(sum);
  }
  return decoded;
}

void Relay::learn(const Answers& answers) {
  learn_round(workers_, current_, last_median_);
  last_median_ = current_.median;
  double lasted = 0;
  for (const Seconds time : answers.time) {
    if (time < kNever) lasted = std::max(lasted, time.count());
  }
  records_.push_back(std::move(current_));
  for (Record& record : records_) record.elapsed += lasted;
  if (habits_.stops_stragglers && !is_probe(now_)) {
    learn_stopped(workers_, records_.back());
    records_.pop_back();
  }
  while (!records_.empty() && mature(records_.front(), now_)) {
    learn_silence(workers_, records_.front());
    if (shadows_) shadows_->learn(to_times(std::move(records_.front())));
    records_.pop_front();
  }
}

}  // namespace paceline::relay
