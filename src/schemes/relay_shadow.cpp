#include "schemes/relay_shadow.hpp"

#include <algorithm>
#include <limits>

#include "paceline/arrivals.hpp"
#include "paceline/check.hpp"
#include "schemes/relay_settings.hpp"

namespace paceline::relay {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMemory = 16;      // rounds
constexpr std::size_t kSlice = 64;  // candidates played at a time: well below a millisecond
constexpr int kRoundsAhead = 8;     // so long is every round that is not quite known worth a guess

// With many workers: how much is played for a round, on average, once the first rounds are known.
constexpr std::size_t kWorkersPerRound = 65536;

}  // namespace

double ShadowPlayer::play(const RoundTimes& times, Shadow& shadow) {
  busy_.clear();
  if (times.queued) {
    shadow.free_at.resize(times.base.size(), 0);
    for (const double free_at : shadow.free_at) busy_.push_back(free_at > shadow.clock ? 1 : 0);
  }
  plan_round(shadow.setting, game_, shadow.ledger, times.round, times.seen, work_, busy_);
  time_units(times, shadow);
  double lasted = close_time(shadow.setting);
  if (shadow.setting.rescue) {
    const double trigger = rescue_time();
    if (lasted > trigger && rescue(shadow.setting, times, trigger)) {
      lasted = close_time(shadow.setting);
    }
  }
  for (std::size_t u = 0; u < work_.units.size(); ++u) {
    Unit& unit = work_.units[u];
    unit.done = unit_time_[u] <= lasted;
    if (accept_late_) unit.arrives = shadow.clock + unit_time_[u];
  }
  if (times.queued) keep_busy(shadow);
  shadow.clock += lasted;
  keep_remainder(work_, shadow.ledger);
  return lasted;
}

void ShadowPlayer::time_units(const RoundTimes& times, const Shadow& shadow) {
  unit_time_.clear();
  for (const Unit& unit : work_.units) unit_time_.push_back(unit.arrives - shadow.clock);
  const double share = 1.0 / game_.chunks;
  worker_time_.assign(work_.first.size(), kNever);
  for (std::size_t i = 0; i < work_.first.size(); ++i) {
    const int unit = work_.first[i];
    if (unit == kNoUnit) continue;
    const double load = share * work_.units[static_cast<std::size_t>(unit)].chunks();
    worker_time_[i] = times.base[i] + times.rate[i] * load;
    if (times.queued) worker_time_[i] += std::max(0.0, shadow.free_at[i] - shadow.clock);
  }
  for (const Copy& copy : work_.more) {  // an order is answered as a whole
    const std::size_t i = copy.worker.index();
    worker_time_[i] +=
        times.rate[i] * share * work_.units[static_cast<std::size_t>(copy.unit)].chunks();
  }
  for (std::size_t i = 0; i < work_.first.size(); ++i) {
    if (work_.first[i] == kNoUnit) continue;
    double& time = unit_time_[static_cast<std::size_t>(work_.first[i])];
    time = std::min(time, worker_time_[i]);
  }
  for (const Copy& copy : work_.more) {
    double& time = unit_time_[static_cast<std::size_t>(copy.unit)];
    time = std::min(time, worker_time_[copy.worker.index()]);
  }
}

/// When may_close() holds: all due units are done, and enough of the others.
double ShadowPlayer::close_time(const Setting& setting) {
  double due = 0;
  buffer_.clear();
  for (std::size_t u = 0; u < work_.units.size(); ++u) {
    if (work_.due(work_.units[u])) {
      due = std::max(due, unit_time_[u]);
    } else if (work_.assigned[u] != 0) {
      buffer_.push_back(unit_time_[u]);
    }
  }
  const int needed = static_cast<int>(buffer_.size()) - most_open(setting, work_);
  if (needed <= 0) return due;
  return std::max(due, kth_least(buffer_, needed, fewer_).time);
}

/// When half of the busy workers have answered, or an answer has taken four times as long as the
/// first.
double ShadowPlayer::rescue_time() {
  buffer_.clear();
  for (const double time : worker_time_) {
    if (time < kNever) buffer_.push_back(time);
  }
  if (buffer_.empty()) return kNever;
  const double first = *std::ranges::min_element(buffer_);
  double trigger = kth_least(buffer_, std::max(1, (work_.busy + 1) / 2), fewer_).time;
  if (trigger > 4 * first) {
    for (const double time : buffer_) {
      if (time >= 4 * first) trigger = std::min(trigger, time);
    }
  }
  return trigger;
}

/// Hands out copies when `trigger` has come. @return whether there were any
bool ShadowPlayer::rescue(const Setting& setting, const RoundTimes& times, double trigger) {
  const bool all = setting.threshold * work_.fresh < 1;
  std::vector<int> units;
  for (std::size_t u = 0; u < work_.units.size(); ++u) {
    if (unit_time_[u] <= trigger || work_.assigned[u] == 0) continue;
    if (all || work_.due(work_.units[u])) units.push_back(static_cast<int>(u));
  }
  if (units.empty()) return false;
  for (const Help& help : share_out(units, helpers(units.size(), trigger), game_, work_)) {
    double load = 0;
    for (const int unit : help.units) {
      load += static_cast<double>(work_.units[static_cast<std::size_t>(unit)].chunks());
    }
    const std::size_t i = help.worker.index();
    const double time = trigger + times.seen.base[i] + times.rate[i] * load / game_.chunks;
    worker_time_[i] = time;
    for (const int unit : help.units) {
      double& best = unit_time_[static_cast<std::size_t>(unit)];
      best = std::min(best, time);
    }
  }
  return true;
}

/// Every worker does what it has, though the round may close before.
void ShadowPlayer::keep_busy(Shadow& shadow) const {
  for (std::size_t i = 0; i < worker_time_.size(); ++i) {
    if (worker_time_[i] < kNever) shadow.free_at[i] = shadow.clock + worker_time_[i];
  }
}

/// The workers that have answered when `trigger` has come, the earliest first; no more of them than
/// so many units can use.
std::vector<WorkerId> ShadowPlayer::helpers(std::size_t units, double trigger) {
  double limit = trigger;
  const std::size_t most = kRescueCopies * units;
  buffer_.clear();
  for (const double time : worker_time_) {
    if (time <= trigger) buffer_.push_back(time);
  }
  if (game_.groups == 1 && most < buffer_.size()) {
    limit = kth_least(buffer_, static_cast<int>(most), fewer_).time;
  }
  ranking_.keys.clear();
  std::vector<WorkerId> candidates;
  for (std::size_t i = 0; i < worker_time_.size(); ++i) {
    if (worker_time_[i] > limit) continue;
    ranking_.keys.push_back(worker_time_[i]);
    candidates.push_back(WorkerId{static_cast<int>(i)});
  }
  std::vector<WorkerId> helpers;
  helpers.reserve(candidates.size());
  for (const std::uint32_t place : ranking_.rank()) helpers.push_back(candidates[place]);
  return helpers;
}

ShadowRuns::ShadowRuns(const Game& game, const std::vector<Setting>& candidates, bool accept_late)
    : player_(game, accept_late), window_(game.window) {
  PACELINE_CHECK(!candidates.empty());
  if (has_many_workers(game)) {
    every_ = candidates.size() * static_cast<std::size_t>(game.workers) / kWorkersPerRound + 1;
  }
  shadows_.resize(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) shadows_[c].setting = candidates[c];
}

void ShadowRuns::play(const RoundTimes& times, std::span<Shadow> shadows) {
  for (Shadow& shadow : shadows) {
    const int before = shadow.ledger.started;
    const double lasted = player_.play(times, shadow);
    shadow.cost += lasted - shadow.cost / kMemory;
    shadow.jobs += shadow.ledger.started - before - shadow.jobs / kMemory;
  }
}

bool ShadowRuns::leaves_out_next() {
  const std::size_t round = known_++;
  return round >= static_cast<std::size_t>(window_) && round % every_ != 0;
}

bool ShadowRuns::study() {
  if (queue_.empty()) return false;
  const std::size_t count = std::min(kSlice, shadows_.size() - played_);
  play(queue_.front(), std::span(shadows_).subspan(played_, count));
  played_ += count;
  if (played_ == shadows_.size()) {
    queue_.pop_front();
    played_ = 0;
    ++rounds_;
  }
  return !queue_.empty();
}

bool ShadowRuns::guesses_count() const {
  return every_ == 1 && rounds_ < kRoundsAhead && played_ == 0;
}

std::optional<Setting> ShadowRuns::best(const std::vector<RoundTimes>& guesses) {
  const int known = rounds_ + static_cast<int>(guesses.size());
  if (known == 0) return std::nullopt;
  if (guesses.empty()) return best_of(shadows_, rounds_);
  std::vector<Shadow> ahead = shadows_;
  for (const RoundTimes& times : guesses) play(times, ahead);
  return best_of(ahead, known);
}

Setting ShadowRuns::best_of(const std::vector<Shadow>& shadows, int rounds) {
  const auto price = [](const Shadow& shadow) { return shadow.cost / shadow.jobs; };
  const bool patient = rounds < window_ - 1;
  for (std::size_t c = 0; c < shadows.size(); ++c) {
    if (patient && shadows[c].setting.threshold > 0) continue;  // its bill comes later
    if (price(shadows[c]) < price(shadows[current_])) current_ = c;
  }
  return shadows[current_].setting;
}

}  // namespace paceline::relay
