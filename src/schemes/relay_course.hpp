// What relay keeps from round to round: what it knows about its workers, which units are open,
// which rounds still have answers out, and the shadow runs. It opens rounds, closes them and learns
// from them; it knows nothing of messages. Two play on it: the scheme itself (relay_scheme.hpp),
// answer by answer, and whole rounds at once (relay_rounds.hpp).
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "paceline/ids.hpp"
#include "schemes/relay_learn.hpp"
#include "schemes/relay_plan.hpp"
#include "schemes/relay_shadow.hpp"

namespace paceline::relay {

/// How a run treats answers to closed rounds.
struct Habits {
  bool accept_late = false;       ///< they complete units
  bool stops_stragglers = false;  ///< there are none, but of probe rounds: then only those teach
};

class Course {
 public:
  /// @param setting      for the whole run, or to begin with
  /// @param candidates   settings to choose from as the run goes on; empty: keeps `setting`
  Course(const Setting& setting,
         const std::vector<Setting>& candidates,
         const Game& game,
         const Habits& habits);

  const Setting& setting() const { return setting_; }

  const Game& game() const { return game_; }

  const Habits& habits() const { return habits_; }

  /// The running round, or the next one.
  Round now() const { return now_; }

  bool is_open() const { return opened_; }

  /// Plans the next round. @pre !is_open()
  void open();

  /// The running round. @pre is_open()
  Record& current() { return current_; }

  const Record& current() const { return current_; }

  const RoundWork& work() const { return current_.work; }

  /// What is not done: units of the running round, or those that the last one left.
  std::vector<Unit>& units() { return opened_ ? current_.work.units : left_.units; }

  /// How many jobs have started, and how many of them are not done. @pre !is_open()
  int started() const { return left_.started; }

  int open_jobs() const;

  /// Closes the round and learns from it. Its samples and done units are marked.
  /// @param lasted  seconds from its start to the last answer in time
  /// @param waited  an order lay behind an older one of its worker
  void close(double lasted, bool waited = false);

  /// An answer to an order of a closed round. @return the round, if it is still of interest
  const Record* learn_late(const LateAnswer& answer);

  /// Answers to first orders, or to later ones, where the samples have been noted at the close.
  void learn_late(Round round, std::span<const WorkerId> workers);

  /// A closed round whose times are not all known; null once it has matured.
  const Record* find(Round round) const;

  /// What a worker owes: it was silent of late, or has not answered so many of the last rounds.
  struct Debt {
    bool silent = false;
    int rounds = 0;

    bool none() const { return !silent && rounds == 0; }
  };

  Debt debt(WorkerId worker) const;

  /// What learn_late() makes of a debt.
  void pay(Round round, WorkerId worker, int tasks, Debt& debt) const;

  /// Scheme::study, Scheme::spares_stragglers.
  bool study();
  bool spares_stragglers(Round round) const;

 private:
  std::span<const char> busy();
  bool is_probe(Round round) const;
  RoundTimes times_of(Record record) const;
  Record* record_of(Round round);

  Setting setting_;
  Game game_;
  Habits habits_;
  std::vector<WorkerHistory> workers_;
  std::optional<ShadowRuns> shadows_;
  std::deque<Record> records_;  ///< closed rounds whose times are not all known, oldest first
  double last_median_ = 0;
  bool queued_ = false;  ///< an order has waited for an older one that its worker finished first
  Ledger left_;          ///< what the round before left open
  Round now_{0};
  bool opened_ = false;
  Record current_;
  Record used_;  ///< one that has matured, for its memory
  Buffers buffers_;
  std::vector<char> busy_;
};

}  // namespace paceline::relay
