// Shadow runs: settings that relay plays beside the real run, on the response times that the real
// run has measured, to find the one that costs least per job.
//
// A shadow is its own little relay: it has its own open units, plans rounds with its own setting
// and the order of workers that the real plan had (so it never sees the future), and closes them
// by the same rule. The answers need no event queue: a round's end is an order statistic of its
// units' times.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schemes/ranking.hpp"
#include "schemes/relay_learn.hpp"
#include "schemes/relay_plan.hpp"

namespace paceline::relay {

/// One setting's own run.
struct Shadow {
  Setting setting;
  Ledger ledger;
  double clock = 0;                  ///< seconds it has run
  double cost = 0;                   ///< seconds of its rounds, with a memory of kMemory rounds
  double jobs = 0;                   ///< jobs it has started, with the same memory
  std::vector<double> free_at = {};  ///< by worker, on its clock; empty unless orders queue
};

/// Plays single rounds; keeps buffers.
class ShadowPlayer {
 public:
  ShadowPlayer(const Game& game, bool accept_late) : game_(game), accept_late_(accept_late) {}

  /// Plays one round of the shadow on `times` and moves its ledger and clock.
  /// @return how long the round lasted, seconds
  double play(const RoundTimes& times, Shadow& shadow);

 private:
  void time_units(const RoundTimes& times, const Shadow& shadow);
  double close_time(const Setting& setting);
  double rescue_time();
  bool rescue(const Setting& setting, const RoundTimes& times, double trigger);
  void keep_busy(Shadow& shadow) const;
  std::vector<WorkerId> helpers(std::size_t units, double trigger);

  Game game_;
  bool accept_late_;
  RoundWork work_;
  std::vector<double> unit_time_;    ///< by unit, seconds from the round's start
  std::vector<double> worker_time_;  ///< by worker; infinite without work
  std::vector<char> busy_;           ///< by worker; empty unless orders queue
  std::vector<double> buffer_;
  std::vector<double> fewer_;
  Ranking ranking_;
};

/// Plays all candidates and says which is best.
class ShadowRuns {
 public:
  /// @pre candidates is not empty
  ShadowRuns(const Game& game, const std::vector<Setting>& candidates, bool accept_late);

  /// Queues a round; the queue is played by study().
  void learn(RoundTimes times) { queue_.push_back(std::move(times)); }

  /// Counts a round whose times are known. @return whether it is not to be learned: with many
  /// workers only the first rounds and a few of the others are
  bool leaves_out_next();

  /// Plays the oldest queued round with some of the candidates. @return whether more is left
  bool study();

  /// The setting with the least seconds per job, the one before on ties; nothing while nothing is
  /// known.
  ///
  /// @param guesses  rounds not yet played since some answers are still out; to be given as long as
  ///                 guesses_count()
  std::optional<Setting> best(const std::vector<RoundTimes>& guesses);

  /// In the first rounds of a run a guess beats waiting.
  bool guesses_count() const;

  const std::vector<Shadow>& shadows() const { return shadows_; }

 private:
  void play(const RoundTimes& times, std::span<Shadow> shadows);
  Setting best_of(const std::vector<Shadow>& shadows, int rounds);

  ShadowPlayer player_;
  std::vector<Shadow> shadows_;
  std::deque<RoundTimes> queue_;
  std::size_t played_ = 0;  ///< so many candidates have played the first of the queue
  int window_;
  std::size_t every_ = 1;  ///< one round in so many is played
  std::size_t known_ = 0;  ///< rounds, learned or not
  int rounds_ = 0;
  std::size_t current_ = 0;
};

}  // namespace paceline::relay
