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
constexpr int kRoundsToMature = 3;
constexpr int kSilentRounds = 5;
constexpr int kProbeEvery = 10;

void learn_base(WorkerHistory& worker, double base, double median) {
  const double gain = std::max(kLeastGain, 1.0 / (worker.count + 1));
  ++worker.count;
  worker.lateness += gain * (base - median - worker.lateness);
  worker.base += gain * (base - worker.base);
}

void learn_answer(WorkerHistory& worker, const Sample& sample, double median) {
  const double gain = std::max(kLeastGain, 1.0 / (worker.count + 1));
  worker.rate = worker.rated ? worker.rate + gain * (sample.rate - worker.rate) : sample.rate;
  worker.rated = true;
  learn_base(worker, sample.base, median);
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
  record.sample.resize(n);
  record.heard.assign(n, 1);
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
    record.heard[i] = 0;
  }
  for (const Copy& copy : record.work.more) {
    record.load[copy.worker.index()] += load[static_cast<std::size_t>(copy.unit)];
  }
  return record;
}

void take_samples(Record& record, const Answers& answers) {
  for (std::size_t i = 0; i < record.heard.size(); ++i) {
    if (record.heard[i] || answers.done[i] < record.ordered[i]) continue;
    if (std::isfinite(answers.time[i].count())) {
      take_sample(record,
                  WorkerId{static_cast<int>(i)},
                  answers.time[i].count(),
                  answers.compute[i].count());
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
    bases[count] = record.sample[i].base;
    heard[count] = i;
    count += (record.heard[i] != 0) & (record.load[i] > 0) ? 1 : 0;
  }
  bases.resize(count);
  heard.resize(count);
  const auto middle = static_cast<int>(count / 2);
  record.median = count == 0 ? fallback : kth_least(bases, middle + 1, buffers.fewer_times).time;
  for (const std::size_t i : heard) learn_answer(workers[i], record.sample[i], record.median);
}

void learn_late(std::vector<WorkerHistory>& workers, const Record& record, WorkerId worker) {
  learn_answer(workers[worker.index()], record.sample[worker.index()], record.median);
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
      times.base[i] = record.sample[i].base;
      times.rate[i] = record.sample[i].rate;
    }
  }
  return times;
}

void learn_silence(std::vector<WorkerHistory>& workers, const Record& record) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (record.heard[i]) continue;
    learn_base(workers[i], std::max(record.elapsed, record.median), record.median);
    ++workers[i].silent;
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
                     Forecast& result,
                     std::vector<WorkerId>& silent) {
  std::vector<char> alive(static_cast<std::size_t>(groups), 0);
  const auto part = [groups](std::size_t i) { return i % static_cast<std::size_t>(groups); };
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].silent < kSilentRounds) alive[part(i)] = 1;
  }
  result.order.reserve(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const bool planned = workers[i].silent < kSilentRounds || alive[part(i)] == 0;
    (planned ? result.order : silent).push_back(WorkerId{static_cast<int>(i)});
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
  result.order.clear();
  result.probes.clear();
  result.base.resize(n);
  result.rate.resize(n);
  double base_sum = 0;
  double rate_sum = 0;
  int seen = 0;
  bool strangers = false;
  for (std::size_t i = 0; i < n; ++i) {
    const WorkerHistory& worker = workers[i];
    result.base[i] = worker.base;
    result.rate[i] = worker.rate;
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
  std::vector<WorkerId> silent;
  sort_out_silent(workers, game.groups, result, silent);
  if (round.value % kProbeEvery == 0) result.probes = std::move(silent);
  result.by_id = result.order;
  const double share = setting.copies / static_cast<double>(n);
  Ranking& ranking = buffers.ranking;
  ranking.items.resize(result.order.size());
  for (std::size_t place = 0; place < ranking.items.size(); ++place) {
    const std::size_t i = result.order[place].index();
    ranking.items[place] = {
        workers[i].lateness + result.rate[i] * share, result.order[place].value, 0};
  }
  ranking.sort();
  for (std::size_t place = 0; place < ranking.items.size(); ++place) {
    result.order[place] = WorkerId{ranking.items[place].id};
  }
  return result;
}

}  // namespace paceline::relay
