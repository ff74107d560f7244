// The relay scheme as a state machine over the pure functions of relay_plan.hpp and
// relay_learn.hpp. It keeps the books: which unit is done by which message, which job is complete.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "paceline/scheme.hpp"
#include "schemes/relay_learn.hpp"
#include "schemes/relay_plan.hpp"
#include "schemes/relay_shadow.hpp"

namespace paceline::relay {

/// How a run treats answers to closed rounds.
struct Habits {
  bool accept_late = false;       ///< they complete units
  bool stops_stragglers = false;  ///< there are none, but of probe rounds: then only those teach
};

class Relay final : public Scheme {
 public:
  /// @param setting      for the whole run, or to begin with
  /// @param candidates   settings to choose from as the run goes on; empty: keeps `setting`
  Relay(SchemeInfo info,
        const Setting& setting,
        const std::vector<Setting>& candidates,
        const Game& game,
        const Habits& habits);

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override;
  bool may_close(Round round, const Answers& answers) const override;

  bool adds_work() const override { return setting_.rescue; }

  /// At most two rescues a round: one early, for the units the round cannot close without; one for
  /// all units when only workers that owe older answers, and so may be dead, have not answered.
  RoundPlan more(Round round, const Answers& answers) override;

  std::vector<Decoding> close(Round round, const Answers& answers) override;
  std::vector<Decoding> late(
      Round round, WorkerId worker, int done, Seconds took, Seconds compute) override;

  bool study() override;
  bool spares_stragglers(Round round) const override;

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Relay>(*this); }

 private:
  /// The messages of a job's done units.
  struct OpenSum {
    int chunks = 0;
    std::vector<Coefficient> terms;
  };

  const RoundWork& work() const { return current_.work; }

  MiniTask task_of(const Unit& unit) const;
  void open_round() const;
  std::vector<Unit>& open_units();
  bool is_probe(Round round) const;
  bool only_debtors_missing(const Answers& answers) const;
  RoundPlan rescue(const std::vector<int>& units, const Answers& answers);
  void settle_round(const Answers& answers);
  void settle_late(const Unit& whole, MessageId message);
  void add_to_sum(const Unit& unit, MessageId message);
  std::vector<Decoding> take_complete_jobs();
  void learn(const Answers& answers);

  SchemeInfo info_;
  Setting setting_;
  Game game_;
  Habits habits_;
  std::vector<WorkerHistory> workers_;
  std::optional<ShadowRuns> shadows_;
  std::deque<Record> records_;     ///< closed rounds whose times are not all known, oldest first
  std::map<JobId, OpenSum> sums_;  ///< of the jobs that have a done unit
  double last_median_ = 0;
  Ledger left_;  ///< what the round before left open
  Round now_{0};
  // The round is planned when its plan is first asked for, so that what study() finds out before
  // counts.
  mutable bool opened_ = false;
  mutable Record current_;
  bool rescued_ = false;      ///< units that the round needs
  bool rescued_all_ = false;  ///< all units
};

}  // namespace paceline::relay
