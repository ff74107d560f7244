// What relay knows about its workers: running averages of how late each one is, of its response
// time at load 0 and of its seconds per unit of load. Answers teach whenever they come; a worker
// that has not answered three rounds later teaches that it was at least so late.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "paceline/ids.hpp"
#include "paceline/scheme.hpp"
#include "schemes/ranking.hpp"
#include "schemes/relay_plan.hpp"

namespace paceline::relay {

struct WorkerHistory {
  double lateness = 0;  ///< s_i, seconds: response time at load 0, above the round's median
  double base = 0;      ///< a_i, seconds: response time at load 0
  double rate = 0;      ///< b_i, seconds per unit of load
  int count = 0;        ///< c_i: rounds learned from
  int silent = 0;       ///< matured rounds in a row without an answer
  int owed = 0;         ///< orders of matured rounds that may still be answered
  bool rated = false;   ///< has answered, so that `rate` is known
};

/// What workers' answers to their first orders of a round say. By worker.
struct Samples {
  std::vector<double> took;  ///< seconds from the round's start
  std::vector<double> base;  ///< u, seconds: response time without the computing
  std::vector<double> rate;  ///< v: seconds of computing per unit of load

  void resize(std::size_t workers) {
    took.resize(workers);
    base.resize(workers);
    rate.resize(workers);
  }
};

/// Scratch that is kept, so that a round allocates nothing.
struct Buffers {
  Ranking ranking;
  std::vector<double> times;
  std::vector<double> fewer_times;
  std::vector<std::size_t> places;
};

/// A round in which not every time is known yet.
struct Record {
  RoundWork work;                 ///< with the rescue copies
  Forecast seen;                  ///< the workers as the plan saw them
  std::vector<int> ordered;       ///< by worker: tasks of its first order
  std::vector<double> load;       ///< by worker: load of its first order
  std::vector<double> unit_load;  ///< by unit
  Samples samples;                ///< valid where `heard`
  std::vector<char> heard;        ///< by worker: the first order is answered, or there is none
  double median = 0;              ///< of the base samples of the answers in time
  double elapsed = 0;             ///< seconds that rounds have lasted since this one was planned
};

/// The record of a round that begins. @param used  an old one, whose memory is used again
Record open_record(RoundWork work, Forecast seen, const Game& game, Record used = {});

/// Notes the first answers that have come since the last look.
void take_samples(Record& record, const Answers& answers);

/// Notes how long a first order takes, not that it has been answered.
/// @param waited  the part of `took` behind older orders of the worker
inline void note_sample(
    Record& record, WorkerId worker, double took, double compute, double waited) {
  const std::size_t i = worker.index();
  record.samples.took[i] = took;
  record.samples.base[i] = took - waited - compute;
  record.samples.rate[i] = compute / record.load[i];
}

/// The same for all workers that have work, where none waits.
/// @param at      shape (n), seconds: when they answer; anything of the others
/// @param opened  seconds: when the round did
void note_samples(Record& record,
                  std::span<const double> at,
                  double opened,
                  std::span<const double> compute);

/// Notes a first order answered after `took` seconds.
inline void take_sample(
    Record& record, WorkerId worker, double took, double compute, double waited) {
  note_sample(record, worker, took, compute, waited);
  record.heard[worker.index()] = 1;
}

/// Sets the median (`fallback` if nobody answered) and learns all samples. Called once, at close.
void learn_round(std::vector<WorkerHistory>& workers,
                 Record& record,
                 double fallback,
                 Buffers& buffers);

/// Learns samples that came after the close and have been noted; of workers heard before nothing.
void learn_late(std::vector<WorkerHistory>& workers,
                Record& record,
                std::span<const WorkerId> answered);

/// Whether nothing more will be learned from the record: all have answered, or three more rounds
/// have passed.
bool mature(const Record& record, Round last_closed);

/// What a round has taught about every worker, once nothing more is to come.
struct RoundTimes {
  Round round;
  Forecast seen;             ///< the workers as the real plan saw them
  std::vector<double> base;  ///< shape (n), seconds: response time at load 0
  std::vector<double> rate;  ///< shape (n), seconds per unit of load
  bool queued = false;       ///< workers finish one order before they begin the next
};

/// The times of a mature record. A worker still missing took at least as long as is known; one that
/// had no work took what was expected.
RoundTimes to_times(Record record);

/// Learns that the workers still missing in a mature record were at least as late as now.
/// @param queued  workers do one order at a time: one that owes an older answer may not have begun
///                this order, which then says nothing but that the worker is silent
void learn_silence(std::vector<WorkerHistory>& workers, Record& record, bool queued);

/// Learns from a round whose missing workers were stopped when it closed: one that was given more
/// time than was expected of it is at least so late, and silent if it was given four times as much.
void learn_stopped(std::vector<WorkerHistory>& workers, const Record& record);

/// The order of the workers in a round: by lateness plus the expected time for a share r0/n, ties
/// by id. Workers silent for five matured rounds are left out, and probed in every tenth round; of
/// a part of the data whose workers are all silent, all count as live.
/// @param used  an old one, whose memory is used again
Forecast forecast(const std::vector<WorkerHistory>& workers,
                  const Setting& setting,
                  const Game& game,
                  Round round,
                  Forecast used,
                  Buffers& buffers);

}  // namespace paceline::relay
