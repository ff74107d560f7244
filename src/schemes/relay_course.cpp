#include "schemes/relay_course.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "paceline/check.hpp"

namespace paceline::relay {

Course::Course(const Setting& setting,
               const std::vector<Setting>& candidates,
               const Game& game,
               const Habits& habits)
    : setting_(setting),
      game_(game),
      habits_(habits),
      workers_(static_cast<std::size_t>(game.workers)) {
  if (candidates.empty()) return;
  Game endless = game;
  endless.jobs = std::numeric_limits<int>::max();
  shadows_.emplace(endless, candidates, habits.accept_late && !habits.stops_stragglers);
}

void Course::open() {
  PACELINE_CHECK(!opened_);
  Forecast seen = forecast(workers_, setting_, game_, now_, std::move(used_.seen), buffers_);
  RoundWork work = std::move(used_.work);
  plan_round(setting_, game_, left_, now_, seen, work, busy());
  current_ = open_record(std::move(work), std::move(seen), game_, std::move(used_));
  opened_ = true;
}

/// By worker: owes an answer to one of the last rounds, where orders queue. Empty where they do
/// not.
std::span<const char> Course::busy() {
  if (!queued_) return {};
  busy_.assign(workers_.size(), 0);
  for (const Record& record : records_) {
    for (std::size_t i = 0; i < busy_.size(); ++i)
      if (!record.heard[i]) busy_[i] = 1;
  }
  return busy_;
}

int Course::open_jobs() const {
  int jobs = 0;
  JobId last{-1};
  for (const Unit& unit : left_.units) jobs += std::exchange(last, unit.job) != unit.job ? 1 : 0;
  return jobs;
}

void Course::close(double lasted, bool waited) {
  keep_remainder(work(), left_);
  queued_ = queued_ || (waited && !habits_.stops_stragglers);
  learn_round(workers_, current_, last_median_, buffers_);
  last_median_ = current_.median;
  records_.push_back(std::move(current_));
  for (Record& record : records_) record.elapsed += lasted;
  if (habits_.stops_stragglers && !is_probe(now_)) {
    learn_stopped(workers_, records_.back());
    used_ = std::move(records_.back());
    records_.pop_back();
  }
  while (!records_.empty() && mature(records_.front(), now_)) {
    learn_silence(workers_, records_.front(), queued_);
    if (!shadows_ || shadows_->leaves_out_next()) {
      used_ = std::move(records_.front());
    } else {
      shadows_->learn(times_of(std::move(records_.front())));
    }
    records_.pop_front();
  }
  opened_ = false;
  ++now_.value;
}

const Record* Course::find(Round round) const {
  const auto found = std::ranges::find_if(
      records_, [&](const Record& record) { return record.work.round == round; });
  return found == records_.end() ? nullptr : &*found;
}

Record* Course::record_of(Round round) {
  const auto found = std::ranges::find_if(
      records_, [&](const Record& record) { return record.work.round == round; });
  return found == records_.end() ? nullptr : &*found;
}

const Record* Course::learn_late(const LateAnswer& answer) {
  const auto& [round, worker, tasks, took, compute, waited] = answer;
  const std::size_t i = worker.index();
  queued_ = queued_ || (waited > Seconds{0} && !habits_.stops_stragglers);
  Record* record = record_of(round);
  if (record != nullptr && (record->heard[i] || tasks < record->ordered[i])) {
    workers_[i].silent = 0;
    return record;
  }
  if (record != nullptr) {
    note_sample(*record, worker, took.count(), compute.count(), waited.count());
  }
  learn_late(round, std::span(&worker, 1));
  return record;
}

void Course::learn_late(Round round, std::span<const WorkerId> workers) {
  for (const WorkerId worker : workers) workers_[worker.index()].silent = 0;
  if (Record* record = record_of(round)) return relay::learn_late(workers_, *record, workers);
  for (const WorkerId worker : workers) {  // they have been learned as missing
    int& owed = workers_[worker.index()].owed;
    owed = std::max(0, owed - 1);
  }
}

Course::Debt Course::debt(WorkerId worker) const {
  const std::size_t i = worker.index();
  Debt debt{workers_[i].silent > 0, 0};
  for (const Record& record : records_) debt.rounds += record.heard[i] ? 0 : 1;
  return debt;
}

void Course::pay(Round round, WorkerId worker, int tasks, Debt& debt) const {
  const std::size_t i = worker.index();
  debt.silent = false;
  const Record* record = find(round);
  if (record != nullptr && !record->heard[i] && tasks >= record->ordered[i]) --debt.rounds;
}

bool Course::study() {
  if (!shadows_) return false;
  if (shadows_->study()) return true;
  std::vector<RoundTimes> guesses;
  if (shadows_->guesses_count()) {
    for (const Record& record : records_) guesses.push_back(times_of(record));
  }
  if (const auto best = shadows_->best(guesses)) setting_ = *best;
  return false;
}

RoundTimes Course::times_of(Record record) const {
  RoundTimes times = to_times(std::move(record));
  times.queued = queued_;
  return times;
}

/// Where stragglers are stopped, only rounds in which they are not teach how slow they are.
bool Course::is_probe(Round round) const {
  constexpr int kFirst = 8;
  constexpr int kEvery = 8;
  return habits_.stops_stragglers && (round.value < kFirst || round.value % kEvery == 0);
}

bool Course::spares_stragglers(Round round) const {
  if (!shadows_ || !is_probe(round)) return false;
  return round == now_ || find(round) != nullptr;
}

}  // namespace paceline::relay
