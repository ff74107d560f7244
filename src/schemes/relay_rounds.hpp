// Relay with stateless workers, played round by round instead of answer by answer.
//
// A unit is done with the earliest answer of its copies, so a round's end is an order statistic of
// such moments: the latest one of the due units, or that of the last other unit that may not stay
// open. Answers that are still out from earlier rounds are sorted and join in. The rescue is due at
// a moment that is an order statistic, too: that of the half of the answers. One case is left to a
// walk from answer to answer: the second rescue, when only workers that owe older answers are
// missing before the round can close. The result equals that of an event by event play, bit for
// bit.
#pragma once

#include <limits>
#include <vector>

#include "paceline/arrivals.hpp"
#include "paceline/whole_rounds.hpp"
#include "schemes/ranking.hpp"
#include "schemes/relay_course.hpp"

namespace paceline::relay {

/// An answer's place among all events: by time, then by worker, then in the order of the orders.
struct When {
  double at = std::numeric_limits<double>::infinity();
  int worker = std::numeric_limits<int>::max();
  int turn = std::numeric_limits<int>::max();

  bool operator==(const When&) const = default;

  bool operator<(const When& other) const {
    if (at != other.at) return at < other.at;
    return worker != other.worker ? worker < other.worker : turn < other.turn;
  }

  bool operator>(const When& other) const { return other < *this; }

  bool operator<=(const When& other) const { return !(other < *this); }

  bool operator>=(const When& other) const { return !(*this < other); }
};

class RelayRounds final : public WholeRounds {
 public:
  /// @param course  nothing of it has been played
  RelayRounds(Course course, const ResponseTimes& times);

  std::optional<Outcome> play(Seconds opened) override;

 private:
  /// An order that is still out: a worker's first one of a round, or rescue copies.
  /// Most workers that are late have one, so it is kept small; what a first order teaches stands in
  /// its round's record.
  struct Outstanding {
    When when;
    int tasks = 0;       ///< of the worker's list are answered with it
    int first_copy = 0;  ///< its units are `copies` entries of the round's RoundWork::more ...
    int copies = 0;      ///< ... unless 0: then they are the units of the first order
    bool useful = true;  ///< a unit of it was not done when its round closed

    WorkerId worker() const { return WorkerId{when.worker}; }

    Round round() const { return Round{when.turn / kTurns}; }
  };

  When first_order(std::size_t worker) const {
    return {arrivals_.times()[worker], static_cast<int>(worker), turn(0)};
  }

  static constexpr int kTurns = 4;  ///< numbers of a round's orders to one worker

  int turn(int dispatch) const { return kTurns * course_.now().value + dispatch; }

  const RoundWork& work() const { return course_.work(); }

  // How a round ends. What is found out on the way is kept in the lists below.
  std::optional<When> find_closing();
  std::optional<When> walk_to_closing();
  When closing();
  When rescue_time();
  bool only_debtors_are_missing_before(const When& closing) const;

  // Answers and what they complete.
  void draw_times();

  void answer_unit(int unit, const When& when) {
    When& first = unit_when_[static_cast<std::size_t>(unit)];
    if (when < first) first = when;
  }

  void list_late_answers(const When& limit, bool all);
  void mark_late(const Outstanding& late);
  void mark_late(const Unit& whole, const When& when);

  // Rescue copies.
  std::vector<int> units_to_rescue(const When& moment, bool all) const;
  std::vector<WorkerId> helpers(std::size_t units, const When& moment);
  bool rescue(const std::vector<int>& units, const When& moment);
  void start_over();

  Outcome close(const When& closing);
  bool late_answers_end_the_game(const When& closing) const;
  void learn_late_answers(const When& closing);

  Course course_;
  const ResponseTimes& response_times_;
  Arrivals arrivals_;                     ///< of the first orders
  std::vector<Outstanding> outstanding_;  ///< of earlier rounds, in the order of the orders

  // the running round
  double opened_ = 0;
  std::vector<Outstanding> late_;    ///< answers to earlier rounds that may matter, in order
  std::vector<Outstanding> copies_;  ///< the orders of rescue copies
  std::vector<When> unit_when_;      ///< by unit: its first answer
  std::vector<When> late_when_;      ///< by unit: the late answer that completes it

  // scratch
  std::vector<double> loads_;
  std::vector<double> takes_;
  std::vector<double> compute_;
  std::vector<Outstanding> answered_;  ///< orders of earlier rounds
  WorkerSet one_;                      ///< workers that have answered an earlier round
  WorkerSet several_;                  ///< workers that have answered more of them
  std::vector<WorkerId> learned_;
  std::vector<double> times_of_others_;
  std::vector<double> times_;
  std::vector<std::size_t> listed_;
  std::vector<char> done_;  ///< by unit
  Ranking ranking_;
};

}  // namespace paceline::relay
