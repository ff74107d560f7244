// Relay cuts each job's batch into k units, gives each unit to about r0 workers, and closes a round
// as soon as few enough units are open (coverage, never a count of answers). Units that stay open
// are handed to the fastest workers of the next rounds until their deadline T' rounds later, when
// the round waits for them. A gradient is the plain sum of one answer per unit, so it is exact.
//
// Workers are ordered by what their answers have taught (relay_learn.hpp); plans and closing are
// pure functions (relay_plan.hpp). This file keeps the books: which unit is done by which message,
// which job is complete. Source: ours, not in the literature.
#include "schemes/relay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "paceline/check.hpp"
#include "schemes/relay_learn.hpp"
#include "schemes/relay_plan.hpp"

namespace paceline {
namespace {

using relay::Forecast;
using relay::Game;
using relay::Ledger;
using relay::Record;
using relay::RoundWork;
using relay::Setting;
using relay::Unit;
using relay::WorkerHistory;

// On six recorded profiles (two of them with little, two with heavy computing) these were within 7
// % of the best fixed setting with the same T for T = 1 and 9 % for T = 3, but for one profile (18
// %) whose best setting has every unit on more than eight workers.
constexpr double kDefaultCopies = 2;
constexpr double kDefaultThreshold = 0.2;
constexpr int kDefaultDue = 4;
constexpr int kDefaultMid = 1;

/// Grid of a job: fine enough that rounding a unit's borders changes its load by less than 1 %.
int chunks_of_job(int workers) {
  constexpr int kLeast = 4096;
  return workers * std::max(relay::kChunksPerWorker, (kLeast + workers - 1) / workers);
}

/// The messages of a job's done units.
struct OpenSum {
  int chunks = 0;
  std::vector<Coefficient> terms;
};

class Relay final : public Scheme {
 public:
  Relay(SchemeInfo info, const Setting& setting, const Game& game, bool accept_late)
      : info_(std::move(info)),
        setting_(setting),
        game_(game),
        accept_late_(accept_late),
        workers_(static_cast<std::size_t>(game.workers)) {
    open_round(Ledger{}, Round{0});
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == now());
    std::vector<Row> rows;
    for (const Unit& unit : work().units) rows.push_back(row_of(unit));
    RoundPlan plan;
    plan.per_worker.resize(work().work.size());
    for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
      for (int task = 0; task < current_.ordered[i]; ++task) {
        const auto unit = static_cast<std::size_t>(work().work[i][static_cast<std::size_t>(task)]);
        plan.per_worker[i].push_back(
            {work().units[unit].job, rows[unit], load_of(work().units[unit])});
      }
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == now());
    return relay::may_close(setting_, work(), done_units(answers));
  }

  bool adds_work() const override { return true; }

  /// At most two rescues a round: one early, for the units the round cannot close without; one for
  /// all units when only workers that owe older answers, and so may be dead, have not answered.
  RoundPlan more(Round round, const Answers& answers) override {
    PACELINE_CHECK(round == now());
    if (!rescued_ && time_to_rescue(answers)) {
      rescued_ = true;
      return rescue(relay::overdue(setting_, work(), done_units(answers)), answers);
    }
    if (!rescued_all_ && only_debtors_missing(answers)) {
      rescued_all_ = true;
      const std::vector<bool> done = done_units(answers);
      if (!relay::may_close(setting_, work(), done)) {
        return rescue(relay::unanswered(work(), done), answers);
      }
    }
    return {};
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(may_close(round, answers));
    relay::take_samples(current_, answers);
    settle_round(answers);
    std::vector<Decoding> decoded = take_complete_jobs();
    const Ledger left = relay::remainder(work());
    learn(answers);
    open_round(left, Round{round.value + 1});
    return decoded;
  }

  std::vector<Decoding> late(
      Round round, WorkerId worker, int done, Seconds took, Seconds compute) override {
    const std::size_t i = worker.index();
    workers_[i].silent = 0;
    const auto found = std::find_if(records_.begin(), records_.end(), [&](const Record& record) {
      return record.work.round == round;
    });
    if (found == records_.end()) return {};  // matured: the worker has been learned as missing
    if (!found->heard[i] && done >= found->ordered[i]) {
      relay::take_sample(*found, worker, took.count(), compute.count());
      relay::learn_late(workers_, *found, worker);
    }
    if (!accept_late_) return {};
    const std::vector<int>& tasks = found->work.work[i];
    for (int task = 0; task < done; ++task) {
      const auto unit = static_cast<std::size_t>(tasks[static_cast<std::size_t>(task)]);
      settle_late(found->work.units[unit], {worker, round, task});
    }
    return take_complete_jobs();
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Relay>(*this); }

 private:
  const RoundWork& work() const { return current_.work; }

  Round now() const { return work().round; }

  double load_of(const Unit& unit) const {
    return static_cast<double>(unit.chunks()) / game_.chunks;
  }

  static Row row_of(const Unit& unit) {
    return Row({Term{.chunk = ChunkId{unit.begin}, .count = unit.chunks()}});
  }

  void open_round(const Ledger& ledger, Round round) {
    current_ = relay::open_record(
        relay::plan_round(
            setting_, game_, ledger, round, relay::forecast(workers_, setting_, round)),
        game_);
    rescued_ = false;
    rescued_all_ = false;
  }

  /// By unit: done before, or answered now.
  std::vector<bool> done_units(const Answers& answers) const {
    std::vector<bool> done;
    for (const Unit& unit : work().units) done.push_back(unit.done);
    for (std::size_t i = 0; i < work().work.size(); ++i) {
      for (int task = 0; task < answers.done[i]; ++task) {
        done[static_cast<std::size_t>(work().work[i][static_cast<std::size_t>(task)])] = true;
      }
    }
    return done;
  }

  bool has_answered(const Answers& answers, std::size_t i) const {
    return current_.ordered[i] > 0 && answers.done[i] >= current_.ordered[i];
  }

  /// Half of the busy workers have answered, or the last answer took four times as long as the
  /// first (which stands for the half that may never come).
  bool time_to_rescue(const Answers& answers) const {
    int answered = 0;
    Seconds first = kNever;
    Seconds last{0};
    for (std::size_t i = 0; i < current_.ordered.size(); ++i) {
      if (!has_answered(answers, i)) continue;
      ++answered;
      first = std::min(first, answers.time[i]);
      last = std::max(last, answers.time[i]);
    }
    return answered > 0 && (2 * answered >= work().busy || last >= 4 * first);
  }

  /// Everyone has answered but workers that have not answered an earlier round either.
  bool only_debtors_missing(const Answers& answers) const {
    for (std::size_t i = 0; i < current_.ordered.size(); ++i) {
      if (answers.done[i] >= current_.ordered[i] || workers_[i].silent > 0) continue;
      const bool owes =
          std::ranges::any_of(records_, [i](const Record& record) { return !record.heard[i]; });
      if (!owes) return false;
    }
    return true;
  }

  /// Copies of `units` for the workers that have nothing left to do, the earliest to answer first.
  RoundPlan rescue(const std::vector<int>& units, const Answers& answers) {
    std::vector<std::size_t> helpers;
    for (std::size_t i = 0; i < current_.ordered.size(); ++i) {
      const bool idle = answers.done[i] == static_cast<int>(work().work[i].size());
      if (idle && has_answered(answers, i) && answers.time[i] < kNever) helpers.push_back(i);
    }
    if (units.empty() || helpers.empty()) return {};
    std::stable_sort(helpers.begin(), helpers.end(), [&](std::size_t a, std::size_t b) {
      return answers.time[a] < answers.time[b];
    });
    relay::take_samples(current_, answers);  // before the second answers hide the first ones
    const std::vector<std::vector<int>> given = relay::spread(units, helpers.size());
    RoundPlan extra;
    extra.per_worker.resize(work().work.size());
    for (std::size_t h = 0; h < helpers.size(); ++h) {
      for (const int index : given[h]) {
        const Unit& unit = work().units[static_cast<std::size_t>(index)];
        extra.per_worker[helpers[h]].push_back({unit.job, row_of(unit), load_of(unit)});
        current_.work.work[helpers[h]].push_back(index);
      }
    }
    return extra;
  }

  /// Every unit answered in this round is done by its first answer; equal times by worker.
  void settle_round(const Answers& answers) {
    std::vector<std::optional<MessageId>> best(work().units.size());
    std::vector<Seconds> best_time(work().units.size(), kNever);
    for (std::size_t i = 0; i < work().work.size(); ++i) {
      for (int task = 0; task < answers.done[i]; ++task) {
        const auto unit = static_cast<std::size_t>(work().work[i][static_cast<std::size_t>(task)]);
        // The time in `answers` is that of the last answer, which may be to a rescue copy.
        const bool first_order = task < current_.ordered[i] && current_.heard[i];
        const Seconds time = first_order ? Seconds(current_.sample[i].took) : answers.time[i];
        if (best[unit] && time >= best_time[unit]) continue;
        best[unit] = MessageId{WorkerId{static_cast<int>(i)}, now(), task};
        best_time[unit] = time;
      }
    }
    for (std::size_t unit = 0; unit < best.size(); ++unit) {
      if (best[unit]) settle(current_.work.units[unit], *best[unit]);
    }
  }

  void settle(Unit& unit, MessageId message) {
    if (unit.done) return;
    unit.done = true;
    add_to_sum(unit, message);
  }

  /// A late message of a unit counts if nothing of the unit has been done since, by others or,
  /// where it was split, in pieces.
  void settle_late(const Unit& whole, MessageId message) {
    int open = 0;
    const auto inside = [&](const Unit& unit) {
      return !unit.done && unit.job == whole.job && unit.begin >= whole.begin &&
             unit.end <= whole.end;
    };
    for (const Unit& unit : work().units) open += inside(unit) ? unit.chunks() : 0;
    if (open < whole.chunks()) return;
    for (Unit& unit : current_.work.units) unit.done = unit.done || inside(unit);
    add_to_sum(whole, message);
  }

  void add_to_sum(const Unit& unit, MessageId message) {
    OpenSum& sum = sums_[unit.job];
    sum.chunks += unit.chunks();
    sum.terms.push_back({message});
  }

  std::vector<Decoding> take_complete_jobs() {
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

  void learn(const Answers& answers) {
    relay::learn_round(workers_, current_, last_median_);
    last_median_ = current_.median;
    double lasted = 0;
    for (const Seconds time : answers.time) {
      if (time < kNever) lasted = std::max(lasted, time.count());
    }
    records_.push_back(std::move(current_));
    for (Record& record : records_) record.elapsed += lasted;
    while (!records_.empty() && relay::mature(records_.front(), records_.back().work.round)) {
      relay::learn_silence(workers_, records_.front());
      records_.pop_front();
    }
  }

  SchemeInfo info_;
  Setting setting_;
  Game game_;
  bool accept_late_;
  std::vector<WorkerHistory> workers_;
  std::deque<Record> records_;     ///< closed rounds whose times are not all known, oldest first
  std::map<JobId, OpenSum> sums_;  ///< of the jobs that have a done unit
  double last_median_ = 0;
  Record current_;
  bool rescued_ = false;      ///< units that the round needs
  bool rescued_all_ = false;  ///< all units
};

SchemeParameter parameter(const char* name, const char* allowed, const char* meaning) {
  return {name, allowed, meaning};
}

SchemeDescription description() {
  SchemeDescription text;
  text.name = "relay";
  text.summary = "hands what a round leaves open to other workers; exact plain sums";
  text.parameters = {
      parameter("T", "T >= 0", "decode delay for one job per round; T+1 models are needed"),
      parameter("r0", "1 <= r0 <= n", "first copies of a unit, may be fractional"),
      parameter("x", "0 <= x <= 1", "share of a round's new units that may stay open"),
      parameter("due", "1 <= due <= n", "copies of an open unit in its last round"),
      parameter("mid", "1 <= mid <= n", "copies of an open unit before its last round"),
      parameter("split", "0 or 1", "1: cut open units into pieces of about 1/n"),
      parameter("speed", "0 or 8", "8: size units by predicted speed, within a factor of 8"),
      parameter("bundle", "1 <= bundle <= T+1", "m: new jobs in a round"),
      parameter("accept_late", "0 or 1", "1: answers to closed rounds count while of use"),
  };
  text.load = "m / round(n/r0)";
  text.decode_delay = "floor((T+1)/m) - 1";
  text.source = "ours";
  text.example = "relay:T=1,r0=2";
  return text;
}

Expected<std::unique_ptr<Scheme>> make_relay(ParameterText& parameters,
                                             const SchemeContext& context) {
  constexpr int kMostDelay = 1000;
  const int n = context.workers;
  Setting setting;
  const int delay = parameters.integer("T", 0, kMostDelay, 1);
  setting.copies = parameters.number("r0", 1, n, std::min(kDefaultCopies, double(n)));
  setting.threshold = parameters.number("x", 0, 1, kDefaultThreshold);
  setting.due_copies = parameters.integer("due", 1, n, std::min(kDefaultDue, n));
  setting.mid_copies = parameters.integer("mid", 1, n, std::min(kDefaultMid, n));
  setting.split = parameters.integer("split", 0, 1, 0) == 1;
  const std::vector<std::string> speeds = {"0", "8"};
  setting.by_speed = parameters.word("speed", speeds, "0") == "8";
  const int bundle = parameters.integer("bundle", 1, kMostDelay + 1, 1);
  const bool accept_late = parameters.integer("accept_late", 0, 1, 0) == 1;
  if (bundle > delay + 1) {
    parameters.fail(
        fmt::format("bundle={} is not allowed; 1 <= bundle <= T+1 = {} (T >= {} would do)",
                    bundle,
                    delay + 1,
                    bundle - 1));
  }
  if (auto read = parameters.finish(); !read) return Unexpected<Error>(read.error());
  setting.bundle = std::min(bundle, n);  // a round has no more than n units
  setting.late_rounds = (delay + 1) / setting.bundle - 1;

  const Game game{n, chunks_of_job(n), delay + 1, context.jobs};
  SchemeInfo info;
  info.name = "relay";
  info.parameters =
      fmt::format("T={},r0={},x={},due={},mid={},split={},speed={},bundle={},accept_late={}",
                  delay,
                  setting.copies,
                  setting.threshold,
                  setting.due_copies,
                  setting.mid_copies,
                  setting.split ? 1 : 0,
                  setting.by_speed ? 8 : 0,
                  setting.bundle,
                  accept_late ? 1 : 0);
  info.workers = n;
  info.decode_delay = setting.late_rounds;
  info.jobs_per_round = setting.bundle;
  info.open_jobs = setting.bundle * (setting.late_rounds + 1);
  info.load = setting.bundle / std::max(1.0, std::round(n / setting.copies));
  info.chunk_size.assign(static_cast<std::size_t>(game.chunks), 1.0 / game.chunks);
  info.amplification_limit = 1;
  return std::unique_ptr<Scheme>(
      std::make_unique<Relay>(std::move(info), setting, game, accept_late));
}

}  // namespace

SchemeEntry relay_entry() { return {description(), make_relay, false}; }

}  // namespace paceline
