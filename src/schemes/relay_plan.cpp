#include "schemes/relay_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "paceline/check.hpp"
#include "paceline/chunks.hpp"

namespace paceline::relay {
namespace {

constexpr int kRescueCopies = 3;

int open_jobs(const std::vector<Unit>& units) {
  int count = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    count += i == 0 || units[i].job != units[i - 1].job ? 1 : 0;
  }
  return count;
}

/// Most workers that open units may take.
int cap_for_open_units(int live, bool drain) { return drain ? live : std::max(1, live * 3 / 4); }

/// Cuts open units into pieces of about 1/n of a job, unless there would be more than `cap`.
std::vector<Unit> split(const std::vector<Unit>& units, const Game& game, int cap) {
  std::vector<Unit> pieces;
  for (const Unit& unit : units) {
    const double share = static_cast<double>(unit.chunks()) * game.workers / game.chunks;
    const int count = std::max(1, static_cast<int>(std::lround(share)));
    if (static_cast<int>(pieces.size()) + count > cap) return units;
    for (int i = 0; i < count; ++i) {
      Unit piece = unit;
      piece.begin = unit.begin + unit.chunks() * i / count;
      piece.end = unit.begin + unit.chunks() * (i + 1) / count;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

/// Copies of the open units. Where they are too many, second copies go before first ones, those of
/// units that are not due before those of due ones, those of young units before those of old ones.
/// A due unit keeps one.
std::vector<int> copies_of_open_units(const Setting& setting,
                                      const RoundWork& work,
                                      int live,
                                      int cap) {
  const int open = static_cast<int>(work.units.size());
  std::vector<int> copies;
  for (const Unit& unit : work.units) {
    copies.push_back(work.drain ? std::max(1, live / open)
                                : (work.due(unit) ? setting.due_copies : setting.mid_copies));
  }
  int excess = std::accumulate(copies.begin(), copies.end(), 0) - cap;
  const auto take = [&](bool due, int least) {
    bool taken = true;
    while (excess > 0 && taken) {
      taken = false;
      for (int i = open - 1; i >= 0 && excess > 0; --i) {
        int& count = copies[static_cast<std::size_t>(i)];
        if (work.due(work.units[static_cast<std::size_t>(i)]) != due || count <= least) continue;
        --count;
        --excess;
        taken = true;
      }
    }
  };
  take(false, 1);
  take(true, 1);
  take(false, 0);
  return copies;
}

/// Hands out the open units, first copies of all units, then second ones, walking down the order
/// (and again from its head if due units outnumber the workers).
/// @return workers used
int hand_out(const std::vector<int>& copies, const Forecast& forecast, RoundWork& work) {
  const int live = static_cast<int>(forecast.order.size());
  int next = 0;
  const int most = copies.empty() ? 0 : *std::max_element(copies.begin(), copies.end());
  for (int copy = 0; copy < most; ++copy) {
    for (std::size_t unit = 0; unit < copies.size(); ++unit) {
      if (copies[unit] <= copy) continue;
      const WorkerId worker = forecast.order[static_cast<std::size_t>(next++ % live)];
      work.work[worker.index()].push_back(static_cast<int>(unit));
      work.assigned[unit] = true;
    }
  }
  return std::min(next, live);
}

/// k: units that `workers` workers get for `jobs` new jobs; as many for each job.
int count_new_units(const Setting& setting, int workers, int jobs) {
  const int units = static_cast<int>(std::lround(workers / setting.copies));
  const int per_job = static_cast<int>(std::lround(static_cast<double>(units) / jobs));
  return std::clamp(per_job, 1, workers / jobs) * jobs;
}

/// Sizes of the k new units; those of each job sum to 1.
std::vector<double> new_sizes(
    const Setting& setting, const Forecast& forecast, std::size_t skipped, int k, int jobs) {
  const int per_job = k / jobs;
  if (!setting.by_speed) {
    return std::vector<double>(static_cast<std::size_t>(k), 1.0 / per_job);
  }
  std::vector<double> base;
  std::vector<double> rate;
  for (int q = 0; q < k; ++q) {
    const WorkerId first = forecast.order[skipped + static_cast<std::size_t>(q)];
    base.push_back(forecast.base[first.index()]);
    rate.push_back(forecast.rate[first.index()]);
  }
  std::vector<double> sizes = sizes_by_speed(base, rate, jobs);
  for (int job = 0; job < jobs; ++job) {
    const auto begin = sizes.begin() + job * per_job;
    const double sum = std::accumulate(begin, begin + per_job, 0.0);
    std::for_each(begin, begin + per_job, [sum](double& size) { size /= sum; });
  }
  return sizes;
}

/// Appends the new units, by job and chunk.
void add_new_units(
    const std::vector<double>& sizes, const Game& game, int jobs, Round deadline, RoundWork& work) {
  const std::size_t per_job = sizes.size() / static_cast<std::size_t>(jobs);
  for (int i = 0; i < jobs; ++i) {
    const auto of_job = std::span(sizes).subspan(static_cast<std::size_t>(i) * per_job, per_job);
    const std::vector<int> border = chunk_borders(game.chunks, of_job);
    for (std::size_t q = 0; q < per_job; ++q) {
      PACELINE_DCHECK(border[q] < border[q + 1]);
      work.units.push_back({JobId{work.started}, border[q], border[q + 1], deadline, false});
    }
    ++work.started;
  }
}

/// Gives worker at position j unit j mod k in even passes and k-1 - j mod k in odd ones, so that
/// the slowest first copy meets the fastest second one.
void deal_in_snake(const Forecast& forecast, int skipped, int first_unit, int k, RoundWork& work) {
  const int live = static_cast<int>(forecast.order.size());
  const int all = live + static_cast<int>(forecast.probes.size());
  for (int position = skipped; position < all; ++position) {
    const WorkerId worker = position < live
                                ? forecast.order[static_cast<std::size_t>(position)]
                                : forecast.probes[static_cast<std::size_t>(position - live)];
    const int j = position - skipped;
    const int unit = first_unit + (j / k % 2 == 0 ? j % k : k - 1 - j % k);
    work.work[worker.index()].push_back(unit);
  }
}

}  // namespace

RoundWork plan_round(const Setting& setting,
                     const Game& game,
                     const Ledger& ledger,
                     Round round,
                     const Forecast& forecast) {
  PACELINE_CHECK(!forecast.order.empty());
  const int live = static_cast<int>(forecast.order.size());
  const int free = game.window - open_jobs(ledger.units);
  PACELINE_CHECK(free >= 0);
  const int jobs = std::min({setting.bundle, game.jobs - ledger.started, free});

  RoundWork work;
  work.round = round;
  work.started = ledger.started;
  work.drain = jobs == 0;
  const int cap = cap_for_open_units(live, work.drain);
  work.units = setting.split ? split(ledger.units, game, cap) : ledger.units;
  work.assigned.assign(work.units.size(), false);
  work.work.resize(static_cast<std::size_t>(game.workers));
  const int used = hand_out(copies_of_open_units(setting, work, live, cap), forecast, work);
  work.busy = used;

  const Round deadline{round.value + setting.late_rounds};
  const int left = live - used;
  const int served = std::min(jobs, left);
  if (served > 0) {
    const int first_unit = static_cast<int>(work.units.size());
    work.fresh = count_new_units(setting, left, served);
    add_new_units(new_sizes(setting, forecast, static_cast<std::size_t>(used), work.fresh, served),
                  game,
                  served,
                  deadline,
                  work);
    work.assigned.resize(work.units.size(), true);
    deal_in_snake(forecast, used, first_unit, work.fresh, work);
    work.busy = live;
  }
  if (served < jobs) {  // open units took the workers: these jobs wait whole
    const int waiting = jobs - served;
    const std::vector<double> whole(static_cast<std::size_t>(waiting), 1.0);
    add_new_units(whole, game, waiting, deadline, work);
    work.assigned.resize(work.units.size(), false);
  }
  return work;
}

bool may_close(const Setting& setting, const RoundWork& work, const std::vector<bool>& done) {
  int open = 0;
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    if (done[i]) continue;
    if (work.due(work.units[i])) return false;
    open += work.assigned[i] ? 1 : 0;
  }
  constexpr double kRounding = 1e-9;  // 0.29 * 100 is less than 29
  return open <= setting.threshold * work.fresh + kRounding;
}

std::vector<int> overdue(const Setting& setting,
                         const RoundWork& work,
                         const std::vector<bool>& done) {
  std::vector<int> units = unanswered(work, done);
  if (setting.threshold * work.fresh < 1) return units;
  std::erase_if(units,
                [&](int unit) { return !work.due(work.units[static_cast<std::size_t>(unit)]); });
  return units;
}

std::vector<int> unanswered(const RoundWork& work, const std::vector<bool>& done) {
  std::vector<int> units;
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    if (!done[i] && work.assigned[i]) units.push_back(static_cast<int>(i));
  }
  return units;
}

Ledger remainder(const RoundWork& work) {
  Ledger ledger{{}, work.started};
  for (const Unit& unit : work.units) {
    if (!unit.done) ledger.units.push_back(unit);
  }
  return ledger;
}

std::vector<std::vector<int>> spread(const std::vector<int>& units, std::size_t helpers) {
  PACELINE_CHECK(helpers > 0);
  std::vector<std::vector<int>> given(helpers);
  std::size_t next = 0;
  for (int copy = 0; copy < kRescueCopies; ++copy) {
    for (const int unit : units) {
      if (copy > 0 && next >= helpers) return given;
      given[next++ % helpers].push_back(unit);
    }
  }
  return given;
}

std::vector<double> sizes_by_speed(const std::vector<double>& base,
                                   const std::vector<double>& rate,
                                   double total) {
  const std::size_t k = base.size();
  const double equal = total / static_cast<double>(k);
  const double mean_rate = std::accumulate(rate.begin(), rate.end(), 0.0) / static_cast<double>(k);
  if (mean_rate <= 0) return std::vector<double>(k, equal);  // nobody has reported computing
  // A rate far below the mean would only be clipped later; bounding it keeps the sums finite.
  const auto speed = [&](std::size_t q) { return 1 / std::max(rate[q], mean_rate / 64); };
  std::vector<std::size_t> by_base(k);
  std::iota(by_base.begin(), by_base.end(), std::size_t{0});
  std::sort(by_base.begin(), by_base.end(), [&](std::size_t a, std::size_t b) {
    return base[a] < base[b] || (base[a] == base[b] && a < b);
  });
  double speeds = 0;
  double work_at_base = 0;
  double tau = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t q = by_base[i];
    speeds += speed(q);
    work_at_base += base[q] * speed(q);
    tau = (total + work_at_base) / speeds;
    if (i + 1 < k && tau <= base[by_base[i + 1]]) break;
  }
  std::vector<double> sizes(k);
  for (std::size_t q = 0; q < k; ++q) {
    sizes[q] = std::clamp(std::max(0.0, tau - base[q]) * speed(q), equal / 8, equal * 8);
  }
  return sizes;
}

}  // namespace paceline::relay
