#include "schemes/relay_rounds.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

#include "paceline/check.hpp"

namespace paceline::relay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr When kNeverAnswered{};
constexpr When kAtOnce{-kInfinity, -1, -1};

}  // namespace

RelayRounds::RelayRounds(Course course, const ResponseTimes& times)
    : course_(std::move(course)),
      response_times_(times),
      arrivals_(course_.game().workers),
      loads_(static_cast<std::size_t>(course_.game().workers)),
      takes_(loads_.size()),
      compute_(loads_.size()),
      one_(course_.game().workers),
      several_(course_.game().workers) {}

std::optional<WholeRounds::Outcome> RelayRounds::play(Seconds opened) {
  opened_ = opened.count();
  while (course_.study()) {
  }
  course_.open();
  draw_times();
  const std::optional<When> found = find_closing();
  if (!found || *found == kNeverAnswered) return std::nullopt;
  return close(*found);
}

/// Answers before the first moment when the round may close are all that count, so every list may
/// hold later ones, too.
std::optional<When> RelayRounds::find_closing() {
  const Setting& setting = course_.setting();
  const When latest = closing();  // late answers and rescue can but make it earlier
  if (latest == kAtOnce) return latest;
  late_.clear();
  if (course_.habits().accept_late) list_late_answers(latest, false);
  const When rescued = setting.rescue ? rescue_time() : kNeverAnswered;
  auto late = late_.begin();
  for (; late != late_.end() && late->when <= rescued; ++late) mark_late(*late);
  When found = late == late_.begin() ? latest : closing();
  if (rescued <= found && rescued != kNeverAnswered) {
    const bool all = setting.threshold * work().fresh < 1;
    if (!rescue(units_to_rescue(rescued, all), rescued)) return std::nullopt;
    const bool helps = late != late_.end() || !copies_.empty();
    for (; late != late_.end(); ++late) mark_late(*late);
    if (helps) found = closing();
  }
  if (setting.rescue && only_debtors_are_missing_before(found)) return walk_to_closing();
  return found;
}

/// When may_close() first holds: all due units are done, and enough of the others.
When RelayRounds::closing() {
  When due = kAtOnce;
  std::size_t others = 0;
  times_of_others_.resize(unit_when_.size());
  for (std::size_t u = 0; u < unit_when_.size(); ++u) {
    if (work().due(work().units[u])) {
      due = std::max(due, unit_when_[u]);
    } else if (work().assigned[u] != 0) {
      times_of_others_[others++] = unit_when_[u].at;
    }
  }
  times_of_others_.resize(others);
  const int needed =
      static_cast<int>(times_of_others_.size()) - most_open(course_.setting(), work());
  if (needed <= 0) return due;
  const KthLeast last = kth_least(times_of_others_, needed, times_);
  if (last.time == kInfinity) return kNeverAnswered;
  std::vector<When> then;  // as a rule one
  for (std::size_t u = 0; u < unit_when_.size(); ++u) {
    if (unit_when_[u].at != last.time) continue;
    if (work().assigned[u] != 0 && !work().due(work().units[u])) then.push_back(unit_when_[u]);
  }
  const auto place = then.begin() + (needed - last.earlier - 1);
  std::ranges::nth_element(then, place);
  return std::max(due, *place);
}

/// The answer that makes half of the busy workers, or takes four times as long as the first.
When RelayRounds::rescue_time() {
  const auto when = [this](Moment moment) {
    return moment == kAfterAllTime ? kNeverAnswered
                                   : When{moment.at.count(), moment.worker, turn(0)};
  };
  const double first = arrivals_.first().at.count() - opened_;
  When rescued = when(arrivals_.nth(std::max(1, (work().busy + 1) / 2)));
  if (first == kInfinity || rescued.at - opened_ < 4 * first) return rescued;
  for (std::size_t i = 0; i < arrivals_.times().size(); ++i) {
    const double at = arrivals_.times()[i];
    if (at < kInfinity && at - opened_ >= 4 * first) rescued = std::min(rescued, first_order(i));
  }
  return rescued;
}

/// Whether the second rescue may come before the round closes: everyone who has answered all
/// earlier rounds answers sooner.
bool RelayRounds::only_debtors_are_missing_before(const When& closing) const {
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i] < 0) continue;
    const bool sooner = arrivals_.times()[i] < kInfinity && first_order(i) < closing;
    if (!sooner && course_.debt(WorkerId{static_cast<int>(i)}).none()) return false;
  }
  return true;
}

/// The slow way, answer by answer, with both rescues as Relay::more has them.
std::optional<When> RelayRounds::walk_to_closing() {
  struct Event {
    When when;

    enum { kFirstOrder, kCopies, kLate } what;

    std::size_t index;  ///< a worker; a place in copies_; one in late_

    bool operator<(const Event& other) const { return when > other.when; }  // earliest on top
  };

  start_over();
  list_late_answers(kNeverAnswered, true);
  const Setting& setting = course_.setting();
  std::priority_queue<Event> events;
  std::vector<Course::Debt> debts(loads_.size());
  int missing = 0;  // workers that owe nothing and have not answered
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i] < 0) continue;
    debts[i] = course_.debt(WorkerId{static_cast<int>(i)});
    missing += debts[i].none() ? 1 : 0;
    if (arrivals_.times()[i] < kInfinity) events.push({first_order(i), Event::kFirstOrder, i});
  }
  for (std::size_t k = 0; k < late_.size(); ++k) {
    events.push({late_[k].when, Event::kLate, k});
  }
  const When half = rescue_time();
  bool rescued = false;
  bool rescued_all = false;
  When closed = closing();
  while (!events.empty()) {
    const Event event = events.top();
    if (closed < event.when) break;
    events.pop();
    if (event.what == Event::kLate) {
      const Outstanding& late = late_[event.index];
      const auto i = static_cast<std::size_t>(late.when.worker);
      const bool waited_for = loads_[i] >= 0 && first_order(i) > event.when && !debts[i].none();
      course_.pay(late.round(), late.worker(), late.tasks, debts[i]);
      missing += waited_for && debts[i].none() ? 1 : 0;
      if (course_.habits().accept_late) mark_late(late);
      closed = closing();
      continue;
    }
    if (event.what == Event::kFirstOrder) missing -= debts[event.index].none() ? 1 : 0;
    const std::size_t before = copies_.size();
    if (!rescued && half <= event.when) {
      if (before > 0) return std::nullopt;  // then half is not what it was
      rescued = true;
      const bool all = setting.threshold * work().fresh < 1;
      if (!rescue(units_to_rescue(event.when, all), event.when)) return std::nullopt;
    } else if (!rescued_all && missing == 0) {
      rescued_all = true;
      const bool open = event.when < closed;
      if (open && !rescue(units_to_rescue(event.when, true), event.when)) return std::nullopt;
    }
    if (copies_.size() == before) continue;
    for (std::size_t k = before; k < copies_.size(); ++k) {
      if (copies_[k].when.at < kInfinity) events.push({copies_[k].when, Event::kCopies, k});
    }
    closed = closing();
  }
  return closed;
}

/// When the workers will answer their first orders.
void RelayRounds::draw_times() {
  const Record& record = course_.current();
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    loads_[i] = record.ordered[i] > 0 ? record.load[i] : -1;
  }
  response_times_.of_all(course_.now(), loads_, takes_, compute_);
  arrivals_.open(Seconds{opened_}, loads_, takes_);
  copies_.clear();
  unit_when_.assign(work().units.size(), kNeverAnswered);
  if (course_.habits().accept_late) late_when_.assign(work().units.size(), kNeverAnswered);
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i] >= 0 && arrivals_.times()[i] < kInfinity) {
      answer_unit(work().first[i], first_order(i));
    }
  }
  for (const Copy& copy : work().more) {
    const std::size_t i = copy.worker.index();
    if (arrivals_.times()[i] < kInfinity) answer_unit(copy.unit, first_order(i));
  }
}

/// Lists the answers to earlier rounds that come up to `limit`, in order.
/// @param all  also those that can complete nothing
void RelayRounds::list_late_answers(const When& limit, bool all) {
  late_.clear();
  ranking_.keys.clear();
  listed_.clear();
  for (std::size_t k = 0; k < outstanding_.size(); ++k) {
    const When& when = outstanding_[k].when;
    if (!(when <= limit && (all || outstanding_[k].useful))) continue;
    ranking_.keys.push_back(when.at);
    listed_.push_back(k);
  }
  for (const std::uint32_t place : ranking_.rank()) late_.push_back(outstanding_[listed_[place]]);
  for (auto same = late_.begin(); same != late_.end();) {  // of answers at the same time
    const auto end = std::find_if(
        same, late_.end(), [&](const Outstanding& out) { return out.when.at != same->when.at; });
    if (end - same > 1) std::ranges::sort(same, end, {}, &Outstanding::when);
    same = end;
  }
}

/// The units that a late answer completes if it counts.
void RelayRounds::mark_late(const Outstanding& late) {
  const Record* record = course_.find(late.round());
  if (record == nullptr) return;
  const auto mark = [&](int unit) {
    mark_late(record->work.units[static_cast<std::size_t>(unit)], late.when);
  };
  if (late.copies == 0) {
    if (late.tasks == 1) {
      return mark(record->work.first[late.worker().index()]);
    }
    const std::vector<int> units = record->work.units_of(late.worker());
    for (int task = 0; task < late.tasks; ++task) mark(units[static_cast<std::size_t>(task)]);
  }
  for (int c = 0; c < late.copies; ++c) {
    mark(record->work.more[static_cast<std::size_t>(late.first_copy + c)].unit);
  }
}

/// Completes a unit, or the pieces that it has been cut into, if nothing of it has been done since.
void RelayRounds::mark_late(const Unit& whole, const When& when) {
  const std::vector<Unit>& units = work().units;
  const auto begin =
      std::lower_bound(units.begin(), units.end(), whole, [](const Unit& unit, const Unit& sought) {
        return unit.job != sought.job ? unit.job < sought.job : unit.begin < sought.begin;
      });
  int open = 0;
  auto end = begin;
  for (; end != units.end() && end->job == whole.job && end->end <= whole.end; ++end) {
    const bool done = late_when_[static_cast<std::size_t>(end - units.begin())] != kNeverAnswered;
    open += done ? 0 : end->chunks();
  }
  if (open < whole.chunks()) return;
  for (auto unit = begin; unit != end; ++unit) {
    const auto u = static_cast<std::size_t>(unit - units.begin());
    late_when_[u] = std::min(late_when_[u], when);
    answer_unit(static_cast<int>(u), when);
  }
}

/// Units that some worker has, that are not done by then and that the round waits for.
/// @param all  also those that are not due
std::vector<int> RelayRounds::units_to_rescue(const When& moment, bool all) const {
  std::vector<int> units;
  for (std::size_t u = 0; u < unit_when_.size(); ++u) {
    if (work().assigned[u] == 0 || unit_when_[u] <= moment) continue;
    if (all || work().due(work().units[u])) units.push_back(static_cast<int>(u));
  }
  return units;
}

/// The workers that have answered all they have by then, the earliest first; no more of them than
/// such a number of units can use.
std::vector<WorkerId> RelayRounds::helpers(std::size_t units, const When& moment) {
  double limit = kInfinity;  // seconds from the round's start
  if (copies_.empty() && course_.game().groups == 1) {
    const auto most = static_cast<int>(std::min(loads_.size(), kRescueCopies * units));
    limit = arrivals_.nth(most).at.count() - opened_;
  }
  std::vector<double> again;  // when those with copies have answered everything
  if (!copies_.empty()) again.assign(loads_.size(), 0);
  for (const Outstanding& copy : copies_) {
    again[static_cast<std::size_t>(copy.when.worker)] =
        copy.when <= moment ? copy.when.at - opened_ : kInfinity;
  }
  // Who has answered is random, so the first look is written without a branch to be guessed
  // wrongly.
  listed_.resize(loads_.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const double at = arrivals_.times()[i];
    listed_[count] = i;
    count += (at <= moment.at) & (at - opened_ <= limit) ? 1 : 0;
  }
  ranking_.keys.clear();
  std::vector<WorkerId> candidates;
  for (const std::size_t i : std::span(listed_).first(count)) {
    if (loads_[i] < 0 || moment < first_order(i)) continue;
    const double first = arrivals_.times()[i] - opened_;
    const double answered = again.empty() ? first : std::max(first, again[i]);
    if (answered > limit || answered == kInfinity) continue;
    ranking_.keys.push_back(answered);
    candidates.push_back(WorkerId{static_cast<int>(i)});
  }
  std::vector<WorkerId> helpers;
  helpers.reserve(candidates.size());
  for (const std::uint32_t place : ranking_.rank()) helpers.push_back(candidates[place]);
  return helpers;
}

/// Sends copies of the units. @return false if one of them would be answered before this moment's
/// other answers: then only events tell what comes next
bool RelayRounds::rescue(const std::vector<int>& units, const When& moment) {
  if (units.empty()) return true;
  const double chunks = course_.game().chunks;
  RoundWork& work = course_.current().work;
  const std::vector<WorkerId> idle = helpers(units.size(), moment);
  std::vector<char> helped;
  if (!copies_.empty()) helped.assign(loads_.size(), 0);
  for (const Outstanding& copy : copies_) helped[static_cast<std::size_t>(copy.when.worker)] = 1;
  for (const Help& help : share_out(units, idle, course_.game(), work)) {
    const int dispatch = helped.empty() || helped[help.worker.index()] == 0 ? 1 : 2;
    Outstanding out;
    out.first_copy = static_cast<int>(work.more.size());
    out.copies = static_cast<int>(help.units.size());
    double load = 0;
    for (const int unit : help.units) {
      load += static_cast<double>(work.units[static_cast<std::size_t>(unit)].chunks()) / chunks;
      work.give(help.worker, unit);
    }
    const auto response =
        response_times_.of(Round{course_.now().value + dispatch}, help.worker, load);
    out.tasks = work.count[help.worker.index()];
    out.when = {moment.at + response.takes, help.worker.value, turn(dispatch)};
    PACELINE_CHECK(response.takes >= 0);
    if (out.when < moment) return false;
    if (out.when.at < kInfinity) {
      for (const int unit : help.units) answer_unit(unit, out.when);
    }
    copies_.push_back(out);
  }
  return true;
}

/// Begins the round anew.
void RelayRounds::start_over() {
  RoundWork& work = course_.current().work;
  for (const Outstanding& out : copies_) {
    work.count[static_cast<std::size_t>(out.when.worker)] -= out.copies;
    work.more.resize(work.more.size() - static_cast<std::size_t>(out.copies));
  }
  draw_times();
}

WholeRounds::Outcome RelayRounds::close(const When& closing) {
  Outcome outcome;
  outcome.ended = Seconds{closing == kAtOnce ? opened_ : closing.at};
  outcome.at_once = closing == kAtOnce;
  learn_late_answers(closing);
  if (late_answers_end_the_game(closing)) {
    outcome.closed = false;
    outcome.decoded = work().started;
    return outcome;
  }
  const Round round = course_.now();
  const bool runs_on = !course_.habits().stops_stragglers || course_.spares_stragglers(round);
  double lasted = 0;
  Record& record = course_.current();
  done_.resize(unit_when_.size());
  for (std::size_t u = 0; u < unit_when_.size(); ++u) {
    record.work.units[u].done = unit_when_[u] <= closing;
  }
  std::ranges::transform(record.work.units, done_.begin(), &Unit::done);
  note_samples(record, arrivals_.times(), opened_, compute_);
  listed_.resize(loads_.size());
  std::size_t late = 0;  // workers, listed
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    // Who is late is random, so what may count is written without a branch to be guessed wrongly.
    const When when = first_order(i);
    const bool busy = loads_[i] >= 0;
    const bool answered =
        busy & ((when.at < closing.at) | ((when.at == closing.at) & (when <= closing)));
    lasted = std::max(lasted, answered ? when.at - opened_ : 0.0);
    outcome.complete += answered ? 1 : 0;
    listed_[late] = i;
    late += busy & !answered ? 1 : 0;
  }
  std::ranges::fill(record.heard, 1);
  for (const std::size_t i : std::span(listed_).first(late)) record.heard[i] = 0;
  outcome.stragglers = static_cast<int>(late);
  for (std::size_t k = 0; runs_on && k < late; ++k) {
    const std::size_t i = listed_[k];
    const When when = first_order(i);
    if (when.at == kInfinity) continue;
    const bool useful =
        record.ordered[i] > 1 || done_[static_cast<std::size_t>(work().first[i])] == 0;
    outstanding_.push_back({when, record.ordered[i], 0, 0, useful});
  }
  for (const Outstanding& copy : copies_) {  // a worker's earlier orders are answered by then
    if (closing < copy.when) {
      ++outcome.stragglers;
      --outcome.complete;
      if (runs_on && copy.when.at < kInfinity) outstanding_.push_back(copy);
    } else {
      lasted = std::max(lasted, copy.when.at - opened_);
    }
  }
  course_.close(lasted);
  outcome.decoded = course_.started() - course_.open_jobs();
  if (course_.habits().stops_stragglers) {
    std::erase_if(outstanding_, [this](const Outstanding& out) {
      return !course_.spares_stragglers(out.round());
    });
  }
  return outcome;
}

/// Learns from the answers to earlier rounds that have come by then; of a worker in the order in
/// which they came, of different workers in any order.
void RelayRounds::learn_late_answers(const When& closing) {
  // Which answer has come is random, so both lists are filled without a branch to be guessed
  // wrongly.
  answered_.resize(outstanding_.size());
  std::size_t answered = 0;
  std::size_t left = 0;
  for (const Outstanding& out : outstanding_) {
    const bool has_come =
        (out.when.at < closing.at) | ((out.when.at == closing.at) & (out.when <= closing));
    answered_[answered] = out;
    outstanding_[left] = out;
    answered += has_come ? 1 : 0;
    left += has_come ? 0 : 1;
  }
  answered_.resize(answered);
  outstanding_.resize(left);
  one_.clear();
  several_.clear();
  for (const Outstanding& out : answered_) {
    if (one_.contains(out.worker())) several_.insert(out.worker());
    one_.insert(out.worker());
  }
  late_.clear();
  for (auto out = answered_.begin(); out != answered_.end();) {
    const Round round = out->round();
    learned_.clear();
    for (; out != answered_.end() && out->round() == round; ++out) {
      if (several_.contains(out->worker())) {
        late_.push_back(*out);
      } else {
        learned_.push_back(out->worker());
      }
    }
    course_.learn_late(round, learned_);
  }
  std::ranges::sort(late_, {}, &Outstanding::when);
  for (const Outstanding& out : late_) {
    const WorkerId worker = out.worker();
    course_.learn_late(out.round(), std::span(&worker, 1));
  }
}

/// A late answer that completes the last job ends the game before the round closes.
bool RelayRounds::late_answers_end_the_game(const When& closing) const {
  return course_.habits().accept_late && work().started == course_.game().jobs &&
         std::ranges::all_of(late_when_, [&](const When& when) { return when <= closing; });
}

}  // namespace paceline::relay
