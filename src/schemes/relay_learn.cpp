#include "schemes/relay_learn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

Record open_record(RoundWork work, Forecast seen, const Game& game) {
  Record record;
  const auto n = static_cast<std::size_t>(game.workers);
  record.work = std::move(work);
  record.seen = std::move(seen);
  record.ordered = record.work.count;
  record.load.assign(n, 0.0);
  record.sample.resize(n);
  record.heard.assign(n, 1);
  const auto load_of = [&](int unit) {
    const auto u = static_cast<std::size_t>(unit);
    return static_cast<double>(record.work.units[u].chunks()) / game.chunks;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (record.ordered[i] == 0) continue;
    record.load[i] = load_of(record.work.first[i]);
    record.heard[i] = 0;
  }
  for (const Copy& copy : record.work.more) record.load[copy.worker.index()] += load_of(copy.unit);
  return record;
}

void take_sample(Record& record, WorkerId worker, double took, double compute) {
  const std::size_t i = worker.index();
  record.heard[i] = 1;
  record.sample[i] = {took, took - compute, compute / record.load[i]};
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

void learn_round(std::vector<WorkerHistory>& workers, Record& record, double fallback) {
  std::vector<double> bases;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (record.heard[i] && record.load[i] > 0) bases.push_back(record.sample[i].base);
  }
  record.median = fallback;
  if (!bases.empty()) {
    const auto middle = bases.begin() + static_cast<std::ptrdiff_t>(bases.size() / 2);
    std::nth_element(bases.begin(), middle, bases.end());
    record.median = *middle;
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (record.heard[i] && record.load[i] > 0) {
      learn_answer(workers[i], record.sample[i], record.median);
    }
  }
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
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const bool planned = workers[i].silent < kSilentRounds || alive[part(i)] == 0;
    (planned ? result.order : silent).push_back(WorkerId{static_cast<int>(i)});
  }
}

}  // namespace

Forecast forecast(const std::vector<WorkerHistory>& workers,
                  const Setting& setting,
                  const Game& game,
                  Round round) {
  const std::size_t n = workers.size();
  double base_sum = 0;
  double rate_sum = 0;
  int seen = 0;
  for (const WorkerHistory& worker : workers) {
    if (!worker.rated) continue;
    base_sum += worker.base;
    rate_sum += worker.rate;
    ++seen;
  }
  Forecast result;
  result.informed = seen > 0;
  std::vector<WorkerId> silent;
  for (std::size_t i = 0; i < n; ++i) {
    const WorkerHistory& worker = workers[i];
    result.base.push_back(worker.count > 0 ? worker.base : (seen > 0 ? base_sum / seen : 0));
    result.rate.push_back(worker.rated ? worker.rate : (seen > 0 ? rate_sum / seen : 1));
  }
  sort_out_silent(workers, game.groups, result, silent);
  if (round.value % kProbeEvery == 0) result.probes = std::move(silent);
  result.by_id = result.order;
  const double share = setting.copies / static_cast<double>(n);
  const auto expected = [&](WorkerId id) {
    return workers[id.index()].lateness + result.rate[id.index()] * share;
  };
  std::sort(result.order.begin(), result.order.end(), [&](WorkerId a, WorkerId b) {
    const double left = expected(a);
    const double right = expected(b);
    return left < right || (left == right && a < b);
  });
  return result;
}

}  // namespace paceline::relay
