// The relay scheme as a state machine over its course (relay_course.hpp) and the pure functions of
// relay_plan.hpp. It keeps the books: which unit is done by which message, which job is complete.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "paceline/scheme.hpp"
#include "schemes/relay_course.hpp"
#include "schemes/relay_progress.hpp"

namespace paceline::relay {

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

  bool adds_work() const override { return course_.setting().rescue; }

  /// At most two rescues a round: one early, for the units the round cannot close without; one for
  /// all units when only workers that owe older answers, and so may be dead, have not answered.
  RoundPlan more(Round round, const Answers& answers) override;

  std::vector<Decoding> close(Round round, const Answers& answers) override;
  std::vector<Decoding> late(const LateAnswer& answer) override;

  bool study() override { return course_.study(); }

  bool spares_stragglers(Round round) const override { return course_.spares_stragglers(round); }

  std::unique_ptr<WholeRounds> whole_rounds(const ResponseTimes& times) const override;

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Relay>(*this); }

 private:
  /// The messages of a job's done units.
  struct OpenSum {
    int chunks = 0;
    std::vector<Coefficient> terms;
  };

  const Record& current() const { return course_.current(); }

  const RoundWork& work() const { return course_.work(); }

  MiniTask task_of(const Unit& unit) const;
  bool only_debtors_missing(const Answers& answers);
  RoundPlan rescue(const std::vector<int>& units, const Answers& answers);
  void settle_round(const Answers& answers);
  void settle_late(const Unit& whole, MessageId message);
  void add_to_sum(const Unit& unit, MessageId message);
  std::vector<Decoding> take_complete_jobs();

  SchemeInfo info_;
  // A round is planned when its plan is first asked for, so that what study() finds out before
  // counts.
  mutable Course course_;
  mutable RoundProgress progress_;  ///< of the running round
  std::map<JobId, OpenSum> sums_;   ///< of the jobs that have a done unit
  bool rescued_ = false;            ///< units that the round needs
  bool rescued_all_ = false;        ///< all units
};

}  // namespace paceline::relay
