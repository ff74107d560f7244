#include "schemes/relay_learn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "paceline/arrivals.hpp"
#include "paceline/check.hpp"

namespace paceline::relay {
namespace {

constexpr double kLeastGain = 0.1;  // an average over about ten rounds
constexpr int kRoundsToLeastGain = 9;
constexpr int kRoundsToMature = 3;
constexpr int kSilentRounds = 5;
constexpr int kProbeEvery = 10;

/// max(0.1, 1 / (c_i + 1)), mostly without a division.
double gain_of(const WorkerHistory& worker) {
  return worker.count >= kRoundsToLeastGain ? kLeastGain : 1.0 / (worker.count + 1);
}

void learn_base(WorkerHistory& worker, double base, double median) {
  const double gain = gain_of(worker);
  ++worker.count;
  worker.lateness += gain * (base - median - worker.lateness);
  worker.base += gain * (base - worker.base);
}

void learn_answer(WorkerHistory& worker, const Record& record, std::size_t i) {
  const double gain = gain_of(worker);
  const double rate = record.samples.rate[i];
  worker.rate = worker.rated ? worker.rate + gain * (rate - worker.rate) : rate;
  worker.rated = true;
  learn_base(worker, record.samples.base[i], record.median);
  worker.silent = 0;
}

}  // namespace

Record open_record(RoundWork work, Forecast seen, const Game& game, Record used) {
  Record record = std::move(used);
  const auto n = static_cast<std::size_t>(game.workers);
  record.work = std::move(work);
  record.seen = std::move(seen);
  record.ordered = record.work.count;
  record.load.assign(n, 0.0);
  record.samples.resize(n);
  record.heard.resize(n);
  std::ranges::transform(
      record.ordered, record.heard.begin(), [](int tasks) { return tasks == 0 ? 1 : 0; });
  record.median = 0;
  record.elapsed = 0;
  std::vector<double>& load = record.unit_load;
  load.clear();
  for (const Unit& unit : record.work.units) {
    load.push_back(static_cast<double>(unit.chunks()) / game.chunks);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (record.ordered[i] == 0) continue;
    record.load[i] = load[static_cast<std::size_t>(record.work.first[i])];
  }
  for (const Copy& copy : record.work.more) {
    record.load[copy.worker.index()] += load[static_cast<std::size_t>(copy.unit)];
  }
  return record;
}

void note_samples(Record& record,
                  std::span<const double> at,
                  double opened,
                  std::span<const double> compute) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    record.samples.base[i] = at[i] - opened - compute[i];
    record.samples.rate[i] = compute[i] / record.load[i];
  }
}

void take_samples(Record& record, const Answers& answers) {
  for (std::size_t i = 0; i < record.heard.size(); ++i) {
    if (record.heard[i] || answers.done[i] < record.ordered[i]) continue;
    if (std::isfinite(answers.time[i].count())) {
      take_sample(record,
                  WorkerId{static_cast<int>(i)},
                  answers.time[i].count(),
                  answers.compute[i].count(),
                  answers.waited[i].count());
    } else {  // work that was left out, since its job does not exist: nothing to learn
      record.heard[i] = 1;
      record.load[i] = 0;
    }
  }
}

void learn_round(std::vector<WorkerHistory>& workers,
                 Record& record,
                 double fallback,
                 Buffers& buffers) {
  // Who answered is random, so both lists are filled without a branch to be guessed wrongly.
  std::vector<double>& bases = buffers.times;
  std::vector<std::size_t>& heard = buffers.places;
  bases.resize(workers.size());
  heard.resize(workers.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    bases[count] = record.samples.base[i];
    heard[count] = i;
    count += (record.heard[i] != 0) & (record.load[i] > 0) ? 1 : 0;
  }
  bases.resize(count);
  heard.resize(count);
  const auto middle = static_cast<int>(count / 2);
  record.median = count == 0 ? fallback : kth_least(bases, middle + 1, buffers.fewer_times).time;
  for (const std::size_t i : heard) learn_answer(workers[i], record, i);
}

void learn_late(std::vector<WorkerHistory>& workers,
                Record& record,
                std::span<const WorkerId> answered) {
  for (const WorkerId worker : answered) {
    if (record.heard[worker.index()]) continue;
    record.heard[worker.index()] = 1;
    learn_answer(workers[worker.index()], record, worker.index());
  }
}

bool mature(const Record& record, Round last_closed) {
  return last_closed.value - record.work.round.value >= kRoundsToMature ||
         std::ranges::find(record.heard, 0) == record.heard.end();
}

RoundTimes to_times(Record record) {
  RoundTimes times{record.work.round, std::move(record.seen), {}, {}};
  if (!times.seen.informed) {  // then the round itself is all there is
    times.seen.base.assign(record.heard.size(), record.median);
  }
  times.base = times.seen.base;
  times.rate = times.seen.rate;
  for (std::size_t i = 0; i < record.heard.size(); ++i) {
    if (!record.heard[i]) {
      times.base[i] = std::max(record.elapsed, record.median);
    } else if (record.load[i] > 0) {
      times.base[i] = record.samples.base[i];
      times.rate[i] = record.samples.rate[i];
    }
  }
  return times;
}

void learn_silence(std::vector<WorkerHistory>& workers, Record& record, bool queued) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (record.heard[i]) continue;
    WorkerHistory& worker = workers[i];
    if (queued && worker.owed > 0) {
      record.heard[i] = 1;
      record.load[i] = 0;
    } else {
      learn_base(worker, std::max(record.elapsed, record.median), record.median);
    }
    ++worker.silent;
    ++worker.owed;
  }
}

void learn_stopped(std::vector<WorkerHistory>& workers, const Record& record) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (record.heard[i]) continue;
    const double computing = record.seen.rate[i] * record.load[i];
    const double expected = record.seen.base[i] + computing;
    if (record.elapsed > expected) {
      learn_base(workers[i], record.elapsed - computing, record.median);
    }
    if (record.elapsed > 4 * std::max(expected, record.median)) ++workers[i].silent;
  }
}

namespace {

/// Live and silent workers. Of a part whose workers are all silent, all count as live.
void sort_out_silent(const std::vector<WorkerHistory>& workers,
                     int groups,
                     std::vector<WorkerId>& live,
                     std::vector<WorkerId>& silent) {
  std::vector<char> alive(static_cast<std::size_t>(groups), 0);
  const auto part = [groups](std::size_t i) { return i % static_cast<std::size_t>(groups); };
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].silent < kSilentRounds) alive[part(i)] = 1;
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const bool planned = workers[i].silent < kSilentRounds || alive[part(i)] == 0;
    (planned ? live : silent).push_back(WorkerId{static_cast<int>(i)});
  }
}

}  // namespace

Forecast forecast(const std::vector<WorkerHistory>& workers,
                  const Setting& setting,
                  const Game& game,
                  Round round,
                  Forecast used,
                  Buffers& buffers) {
  const std::size_t n = workers.size();
  Forecast result = std::move(used);
  result.probes.clear();
  result.base.resize(n);
  result.rate.resize(n);
  std::vector<double>& lateness = buffers.times;
  lateness.resize(n);
  double base_sum = 0;
  double rate_sum = 0;
  int seen = 0;
  bool strangers = false;
  int most_silent = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const WorkerHistory& worker = workers[i];
    result.base[i] = worker.base;
    result.rate[i] = worker.rate;
    lateness[i] = worker.lateness;
    most_silent = std::max(most_silent, worker.silent);
    if (!worker.rated) {
      strangers = true;
      continue;
    }
    base_sum += worker.base;
    rate_sum += worker.rate;
    ++seen;
  }
  result.informed = seen > 0;
  for (std::size_t i = 0; strangers && i < n; ++i) {
    if (workers[i].count == 0) result.base[i] = seen > 0 ? base_sum / seen : 0;
    if (!workers[i].rated) result.rate[i] = seen > 0 ? rate_sum / seen : 1;
  }
  if (most_silent < kSilentRounds) {
    result.by_id.resize(n);
    for (std::size_t i = 0; i < n; ++i) result.by_id[i] = WorkerId{static_cast<int>(i)};
  } else {
    result.by_id.clear();
    std::vector<WorkerId> silent;
    sort_out_silent(workers, game.groups, result.by_id, silent);
    if (round.value % kProbeEvery == 0) result.probes = std::move(silent);
  }
  const double share = setting.copies / static_cast<double>(n);
  std::vector<double>& keys = buffers.ranking.keys;
  keys.resize(result.by_id.size());
  for (std::size_t place = 0; place < keys.size(); ++place) {
    const std::size_t i = result.by_id[place].index();
    keys[place] = lateness[i] + result.rate[i] * share;
  }
  result.order.resize(keys.size());
  std::ranges::transform(buffers.ranking.rank(), result.order.begin(), [&](std::uint32_t place) {
    return result.by_id[place];
  });
  return result;
}

}  // namespace paceline::relay
