// Who computes what in a round of relay, and when the round may close: pure functions over small
// values, so that many settings can be played side by side on the same answers.
//
// A job's batch is a grid of equal chunks. A unit is a run of chunks of one job with a deadline; it
// is done when any copy of it is answered, and a job is decoded when its units are. Units that a
// round leaves open are relayed: handed to other workers in the next round, oldest first, to the
// workers expected to be fastest. The workers left cut the new jobs into units of their own.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "paceline/ids.hpp"

namespace paceline::relay {

/// What may change from round to round.
struct Setting {
  int bundle = 1;         ///< m: new jobs in a round
  int late_rounds = 1;    ///< T': rounds a unit may be late
  double copies = 2;      ///< r0 >= 1: first copies of a new unit, on average
  double threshold = 0;   ///< x: share of a round's new units that may stay open; 0 waits for all
  int due_copies = 8;     ///< copies of an open unit in its last round
  int mid_copies = 2;     ///< copies of an open unit before its last round
  bool split = false;     ///< cut open units into pieces of about 1/n
  bool by_speed = false;  ///< size new units by the speed of their first worker
  bool rescue = true;     ///< copies for units the round waits for, once half have answered
  bool by_id = false;     ///< workers in the order of their numbers, not of their expected times
};

/// What never changes.
struct Game {
  int workers = 0;  ///< n
  int chunks = 0;   ///< of a job, equal; at least kChunksPerWorker * n
  int window = 1;   ///< T+1: job t starts once all jobs up to t-(T+1) are done
  int jobs = 0;     ///< jobs in the sequence
  int groups = 1;   ///< G <= n, divides `chunks`: worker i holds part i mod G of the data, one
                    ///< G-th; every job has units in each part
};

/// With by_speed a unit has between 1/8 and 8 times the equal size before the sizes of its job are
/// scaled to sum 1, so at least 1/64 of the equal size after: with so many chunks none is empty.
inline constexpr int kChunksPerWorker = 64;

inline constexpr double kNoArrival = std::numeric_limits<double>::infinity();

struct Unit {
  JobId job;
  int begin = 0;  ///< first chunk
  int end = 0;    ///< one past the last chunk
  Round deadline;
  bool done = false;
  double arrives = kNoArrival;  ///< seconds; shadow runs only: when a late answer completes it

  int chunks() const { return end - begin; }

  bool operator==(const Unit&) const = default;
};

/// What a round leaves to the next.
struct Ledger {
  std::vector<Unit> units;  ///< open, by job, then by chunk
  int started = 0;          ///< jobs started so far
};

/// The workers as a plan sees them.
struct Forecast {
  std::vector<WorkerId> order;   ///< live workers, the one expected to be fastest first
  std::vector<WorkerId> by_id;   ///< the same, by number
  std::vector<WorkerId> probes;  ///< silent workers that get a spare copy to see whether they live
  std::vector<double> base;      ///< shape (n), seconds: expected response time at load 0
  std::vector<double> rate;      ///< shape (n), seconds per unit of load
  bool informed = false;         ///< somebody has answered before, so base and rate mean something
};

/// A worker's copy of a unit, where it is not its first.
struct Copy {
  WorkerId worker;
  int unit = 0;
  int task = 0;  ///< its place in the worker's list, >= 1
};

/// As a rule a worker has one unit. The few that have more (due units that outnumber the workers,
/// rescue copies) find the others in `more`.
struct RoundWork {
  Round round;
  std::vector<Unit> units;     ///< all open units, the new ones last; by job, then by chunk
  std::vector<char> assigned;  ///< by unit: some worker has it
  std::vector<int> first;      ///< by worker: its unit, or kNoUnit
  std::vector<int> count;      ///< by worker: units it has
  std::vector<Copy> more;      ///< in the order given; of one worker, older jobs first
  int busy = 0;                ///< workers that have work, probes apart
  int fresh = 0;               ///< k: new units that have a worker
  int started = 0;             ///< jobs started so far, with those of this round
  bool drain = false;          ///< no new job: every unit counts as due

  bool due(const Unit& unit) const { return drain || unit.deadline <= round; }

  /// The worker's units, in the order in which it is to compute them.
  std::vector<int> units_of(WorkerId worker) const;

  /// Appends a unit to a worker's list.
  void give(WorkerId worker, int unit) {
    assigned[static_cast<std::size_t>(unit)] = 1;
    int& tasks = count[worker.index()];
    if (tasks > 0) return give_more(worker, unit);
    first[worker.index()] = unit;
    tasks = 1;
  }

 private:
  void give_more(WorkerId worker, int unit);
};

inline constexpr int kNoUnit = -1;

/// Plans a round.
///
/// @param ledger    what the rounds before left open; at most `game.window` jobs
/// @param forecast  at least one worker in `order`
/// @param work      overwritten; a used one saves allocations
/// @param busy      shape (n), or empty for none: workers that still do an older order. A new one
///                  would lie behind it and come late, and the next one later still; so they get
///                  none, unless fewer of their part are free than jobs begin. Units are cut as if
///                  all were free
/// Cost: O(n + units)
/// Source: ours
void plan_round(const Setting& setting,
                const Game& game,
                const Ledger& ledger,
                Round round,
                const Forecast& forecast,
                RoundWork& work,
                std::span<const char> busy = {});

/// Units with a worker that may stay open though they are not due: floor(x k).
int most_open(const Setting& setting, const RoundWork& work);

/// Whether the round may close: every due unit is done, and of the others at most x * k that some
/// worker has are open.
///
/// @param done  by unit
bool may_close(const Setting& setting, const RoundWork& work, const std::vector<char>& done);

/// Units that need help in the middle of the round: those that the round cannot close without (due
/// ones, or any if x * k < 1) and that are not done.
std::vector<int> overdue(const Setting& setting,
                         const RoundWork& work,
                         const std::vector<char>& done);

/// Units that some worker has and that are not done.
std::vector<int> unanswered(const RoundWork& work, const std::vector<char>& done);

/// The round's units that are not done, for the next one.
void keep_remainder(const RoundWork& work, Ledger& ledger);

/// A helper and the units it gets in the middle of a round.
struct Help {
  WorkerId worker;
  std::vector<int> units;
};

inline constexpr std::size_t kRescueCopies = 3;  ///< of a unit in one rescue

/// Gives units to helpers that hold them: a copy of each unit, then a second one, at most three,
/// every helper of the part in turn; first copies start over when there are fewer helpers than
/// units. A unit whose part has no helper gets none.
///
/// @param helpers  best first
std::vector<Help> share_out(const std::vector<int>& units,
                            const std::vector<WorkerId>& helpers,
                            const Game& game,
                            const RoundWork& work);

/// Sizes of units such that their workers are expected to finish together:  size_q = max(0, tau -
/// base_q) / rate_q  with tau such that the sizes sum to `total`, clipped to [1/8, 8] times the
/// equal size.
///
/// @param base  shape (k), seconds
/// @param rate  shape (k), seconds per unit of load, >= 0
/// Source: ours (water-filling)
std::vector<double> sizes_by_speed(const std::vector<double>& base,
                                   const std::vector<double>& rate,
                                   double total);

}  // namespace paceline::relay
