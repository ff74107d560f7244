#include "schemes/relay_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "paceline/check.hpp"
#include "paceline/chunks.hpp"
#include "schemes/ranking.hpp"

namespace paceline::relay {
namespace {

/// How many jobs may start. Job t needs the parameters that job t - (T+1) makes, so it is not the
/// number of open jobs that counts but how far back the oldest one is.
int free_jobs(const Game& game, const Ledger& ledger) {
  if (ledger.units.empty()) return game.window;
  return game.window - (ledger.started - ledger.units.front().job.value);
}

/// The workers and units of one part of the data.
struct Part {
  std::span<const WorkerId> order;
  std::span<const WorkerId> probes;
  int left_out = 0;        ///< live workers that are busy and not in the order
  int begin = 0;           ///< first chunk
  int end = 0;             ///< one past the last chunk
  int used = 0;            ///< workers that open units take, from the head of the order
  int units_per_job = 0;   ///< of new jobs that have workers
  int served = 0;          ///< so many new jobs have workers
  std::vector<int> units;  ///< open ones, indices

  int live() const { return static_cast<int>(order.size()); }
};

/// Leaves out busy workers, unless fewer than `least` are free. @return how many
int leave_out(std::span<const char> busy, int least, std::vector<WorkerId>& workers) {
  const auto is_busy = [busy](WorkerId worker) { return busy[worker.index()] != 0; };
  const auto count = std::ranges::count_if(workers, is_busy);
  if (std::ssize(workers) - count < least) return 0;
  std::erase_if(workers, is_busy);
  return static_cast<int>(count);
}

/// Workers by the part they hold, in their order.
std::vector<std::vector<WorkerId>> by_part(const std::vector<WorkerId>& workers, int parts) {
  std::vector<std::vector<WorkerId>> lists(static_cast<std::size_t>(parts));
  for (const WorkerId worker : workers) {
    lists[static_cast<std::size_t>(worker.value % parts)].push_back(worker);
  }
  return lists;
}

/// Most workers of a part that open units may take. Where a part has few workers, more are left for
/// new jobs.
int cap_for_open_units(const Part& part, bool drain, int parts) {
  if (drain) return part.live();
  return std::max(1, parts == 1 ? part.live() * 3 / 4 : part.live() / 2);
}

/// Where the i-th of `count` equal pieces begins.
int border(int chunks, int i, int count) {
  return static_cast<int>(static_cast<long long>(chunks) * i / count);
}

/// Cuts a part's open units into pieces of about 1/n of a job, unless there would be more than
/// `cap`.
void add_split(std::span<const Unit> units, const Game& game, int cap, std::vector<Unit>& pieces) {
  const std::size_t before = pieces.size();
  int total = 0;
  for (const Unit& unit : units) {
    const double share = static_cast<double>(unit.chunks()) * game.workers / game.chunks;
    const int count = std::max(1, static_cast<int>(std::lround(share)));
    total += count;
    if (total > cap) {
      pieces.resize(before);
      pieces.insert(pieces.end(), units.begin(), units.end());
      return;
    }
    for (int i = 0; i < count; ++i) {
      Unit piece = unit;
      piece.begin = unit.begin + border(unit.chunks(), i, count);
      piece.end = unit.begin + border(unit.chunks(), i + 1, count);
      pieces.push_back(piece);
    }
  }
}

/// The open units, split where the setting says so, by job and chunk.
void take_open_units(const Setting& setting,
                     const Game& game,
                     const Ledger& ledger,
                     const std::vector<Part>& parts,
                     RoundWork& work) {
  if (!setting.split) {
    work.units = ledger.units;
    return;
  }
  work.units.clear();
  for (const Part& part : parts) {
    std::vector<Unit> units;
    std::ranges::copy_if(ledger.units, std::back_inserter(units), [&](const Unit& unit) {
      return unit.begin >= part.begin && unit.begin < part.end;
    });
    const int cap = cap_for_open_units(part, work.drain, game.groups);
    add_split(units, game, cap, work.units);
  }
  if (game.groups == 1) return;
  std::ranges::sort(work.units, [](const Unit& a, const Unit& b) {
    return a.job != b.job ? a.job < b.job : a.begin < b.begin;
  });
}

/// Copies of a part's open units. Where they are too many, second copies go before first ones,
/// those of units that are not due before those of due ones, those of young units before those of
/// old ones. A due unit keeps one.
std::vector<int> copies_of_open_units(const Setting& setting,
                                      const RoundWork& work,
                                      const Part& part,
                                      int cap) {
  const int open = static_cast<int>(part.units.size());
  const auto due = [&](int i) {
    return work.due(work.units[static_cast<std::size_t>(part.units[static_cast<std::size_t>(i)])]);
  };
  std::vector<int> copies;
  copies.reserve(part.units.size());
  for (int i = 0; i < open; ++i) {
    copies.push_back(work.drain ? std::max(1, part.live() / open)
                                : (due(i) ? setting.due_copies : setting.mid_copies));
  }
  int excess = std::accumulate(copies.begin(), copies.end(), 0) - cap;
  const auto take = [&](bool due_ones, int least) {
    bool taken = true;
    while (excess > 0 && taken) {
      taken = false;
      for (int i = open - 1; i >= 0 && excess > 0; --i) {
        int& count = copies[static_cast<std::size_t>(i)];
        if (due(i) != due_ones || count <= least) continue;
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

/// Hands out a part's open units, first copies of all units, then second ones, walking down the
/// order (and again from its head if due units outnumber the workers).
void hand_out(const std::vector<int>& copies, Part& part, RoundWork& work) {
  int next = 0;
  const int most = copies.empty() ? 0 : *std::max_element(copies.begin(), copies.end());
  for (int copy = 0; copy < most; ++copy) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i] <= copy) continue;
      work.give(part.order[static_cast<std::size_t>(next++ % part.live())], part.units[i]);
    }
  }
  part.used = std::min(next, part.live());
}

/// Units that `workers` workers get for each of `jobs` new jobs.
int count_new_units(const Setting& setting, int workers, int left_out, int jobs) {
  const int units = static_cast<int>(std::lround((workers + left_out) / setting.copies));
  const int per_job = static_cast<int>(std::lround(static_cast<double>(units) / jobs));
  return std::clamp(per_job, 1, workers / jobs);
}

/// Sizes of a part's new units; those of each job sum to 1.
std::vector<double> new_sizes(const Forecast& forecast, const Part& part, int groups) {
  std::vector<double> base;
  std::vector<double> rate;
  const int k = part.units_per_job * part.served;
  for (int q = 0; q < k; ++q) {
    const WorkerId first = part.order[static_cast<std::size_t>(part.used + q)];
    base.push_back(forecast.base[first.index()]);
    rate.push_back(forecast.rate[first.index()] / groups);
  }
  std::vector<double> sizes = sizes_by_speed(base, rate, part.served);
  for (int job = 0; job < part.served; ++job) {
    const auto begin = sizes.begin() + job * part.units_per_job;
    const double sum = std::accumulate(begin, begin + part.units_per_job, 0.0);
    std::for_each(begin, begin + part.units_per_job, [sum](double& size) { size /= sum; });
  }
  return sizes;
}

/// Appends a part's units of its i-th new job: one without a worker if no worker is left for it.
void add_new_units(
    const Part& part, int i, std::span<const double> sizes, Round deadline, RoundWork& work) {
  const JobId job{work.started};
  if (i >= part.served) {  // nobody can do it in this round
    const Round next{std::max(deadline.value, work.round.value + 1)};
    work.units.push_back({job, part.begin, part.end, next});
    return;
  }
  const int chunks = part.end - part.begin;
  const int count = part.units_per_job;
  if (sizes.empty()) {
    // border(chunks, q, count) for one q after the other, without its divisions
    const int quotient = chunks / count;
    const int remainder = chunks % count;
    int begin = part.begin;
    for (int q = 0, carry = 0; q < count; ++q) {
      carry += remainder;
      const int end = begin + quotient + (carry >= count ? 1 : 0);
      carry -= carry >= count ? count : 0;
      work.units.push_back({job, begin, end, deadline});
      begin = end;
    }
    return;
  }
  const auto own =
      sizes.subspan(static_cast<std::size_t>(i * count), static_cast<std::size_t>(count));
  const std::vector<int> border = chunk_borders(chunks, own);
  for (std::size_t q = 0; q + 1 < border.size(); ++q) {
    PACELINE_DCHECK(border[q] < border[q + 1]);
    work.units.push_back({job, part.begin + border[q], part.begin + border[q + 1], deadline});
  }
}

/// Gives the worker at position j of those left unit j mod k in even passes and k-1 - j mod k in
/// odd ones, so that the slowest first copy meets the fastest second one.
///
/// @param first   by new job: its first unit in this part
void deal_in_snake(const Part& part, const std::vector<int>& first, RoundWork& work) {
  const int k = part.units_per_job * part.served;
  const int left = part.live() - part.used;
  const int all = left + static_cast<int>(part.probes.size());
  std::vector<int> units;
  units.reserve(static_cast<std::size_t>(k));
  for (int job = 0; job < part.served; ++job) {
    const int begin = first[static_cast<std::size_t>(job)];
    for (int u = 0; u < part.units_per_job; ++u) units.push_back(begin + u);
    std::fill_n(work.assigned.begin() + begin, part.units_per_job, 1);  // as k <= left
  }
  for (int j = 0, q = 0, step = 1; j < all; ++j) {
    const WorkerId worker = j < left ? part.order[static_cast<std::size_t>(part.used + j)]
                                     : part.probes[static_cast<std::size_t>(j - left)];
    work.first[worker.index()] = units[static_cast<std::size_t>(q)];  // none of them has one yet
    work.count[worker.index()] = 1;
    if (q + step < 0 || q + step >= k) {
      step = -step;
    } else {
      q += step;
    }
  }
}

/// Starts the new jobs with the workers that are left in each part.
void start_jobs(const Setting& setting,
                const Game& game,
                const Forecast& forecast,
                int jobs,
                std::vector<Part>& parts,
                RoundWork& work) {
  const Round deadline{work.round.value + setting.late_rounds};
  std::vector<std::vector<double>> sizes(parts.size());
  std::vector<std::vector<int>> first(parts.size());
  for (std::size_t g = 0; g < parts.size(); ++g) {
    Part& part = parts[g];
    const int left = part.live() - part.used;
    part.served = std::min(jobs, left);
    work.busy += part.served > 0 ? part.live() : part.used;
    if (part.served == 0) continue;
    part.units_per_job = count_new_units(setting, left, part.left_out, part.served);
    work.fresh += part.units_per_job * part.served;
    if (setting.by_speed) sizes[g] = new_sizes(forecast, part, game.groups);
  }
  for (int i = 0; i < jobs; ++i) {
    for (std::size_t g = 0; g < parts.size(); ++g) {
      first[g].push_back(static_cast<int>(work.units.size()));
      add_new_units(parts[g], i, sizes[g], deadline, work);
    }
    ++work.started;
  }
  work.assigned.resize(work.units.size(), 0);
  for (std::size_t g = 0; g < parts.size(); ++g) {
    if (parts[g].served > 0) deal_in_snake(parts[g], first[g], work);
  }
}

}  // namespace

std::vector<int> RoundWork::units_of(WorkerId worker) const {
  std::vector<int> list;
  if (first[worker.index()] != kNoUnit) list.push_back(first[worker.index()]);
  for (const Copy& copy : more) {
    if (copy.worker == worker) list.push_back(copy.unit);
  }
  return list;
}

void RoundWork::give_more(WorkerId worker, int unit) {
  more.push_back({worker, unit, count[worker.index()]++});
}

void plan_round(const Setting& setting,
                const Game& game,
                const Ledger& ledger,
                Round round,
                const Forecast& forecast,
                RoundWork& work,
                std::span<const char> busy) {
  const int free = free_jobs(game, ledger);
  PACELINE_CHECK(free >= 0);
  const int jobs = std::min({setting.bundle, game.jobs - ledger.started, free});
  work.round = round;
  work.started = ledger.started;
  work.drain = jobs == 0;
  work.fresh = 0;
  work.busy = 0;
  work.first.assign(static_cast<std::size_t>(game.workers), kNoUnit);
  work.count.assign(static_cast<std::size_t>(game.workers), 0);
  work.more.clear();

  std::vector<Part> parts(static_cast<std::size_t>(game.groups));
  const std::vector<WorkerId>& order = setting.by_id ? forecast.by_id : forecast.order;
  std::vector<std::vector<WorkerId>> orders;  // where the parts' orders are not the whole one
  std::vector<std::vector<WorkerId>> probes;
  if (game.groups > 1 || !busy.empty()) orders = by_part(order, game.groups);
  if (game.groups > 1) {
    probes = by_part(forecast.probes, game.groups);
  }
  const int part_chunks = game.chunks / game.groups;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    Part& part = parts[g];
    if (!busy.empty()) part.left_out = leave_out(busy, std::max(1, jobs), orders[g]);
    part.order = orders.empty() ? order : std::span<const WorkerId>(orders[g]);
    part.probes = game.groups > 1 ? std::span<const WorkerId>(probes[g]) : forecast.probes;
    part.begin = static_cast<int>(g) * part_chunks;
    part.end = part.begin + part_chunks;
    PACELINE_CHECK(!part.order.empty());
  }
  take_open_units(setting, game, ledger, parts, work);
  work.assigned.assign(work.units.size(), 0);
  for (std::size_t u = 0; u < work.units.size(); ++u) {
    const auto g = static_cast<std::size_t>(work.units[u].begin / part_chunks);
    parts[g].units.push_back(static_cast<int>(u));
  }
  for (Part& part : parts) {
    const int cap = cap_for_open_units(part, work.drain, game.groups);
    hand_out(copies_of_open_units(setting, work, part, cap), part, work);
  }
  if (work.drain) {
    for (const Part& part : parts) work.busy += part.used;
  } else {
    start_jobs(setting, game, forecast, jobs, parts, work);
  }
}

int most_open(const Setting& setting, const RoundWork& work) {
  constexpr double kRounding = 1e-9;  // 0.29 * 100 is less than 29
  return static_cast<int>(std::floor(setting.threshold * work.fresh + kRounding));
}

bool may_close(const Setting& setting, const RoundWork& work, const std::vector<char>& done) {
  int open = 0;
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    if (done[i]) continue;
    if (work.due(work.units[i])) return false;
    open += work.assigned[i] ? 1 : 0;
  }
  return open <= most_open(setting, work);
}

std::vector<int> overdue(const Setting& setting,
                         const RoundWork& work,
                         const std::vector<char>& done) {
  std::vector<int> units = unanswered(work, done);
  if (setting.threshold * work.fresh < 1) return units;
  std::erase_if(units,
                [&](int unit) { return !work.due(work.units[static_cast<std::size_t>(unit)]); });
  return units;
}

std::vector<int> unanswered(const RoundWork& work, const std::vector<char>& done) {
  std::vector<int> units;
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    if (!done[i] && work.assigned[i]) units.push_back(static_cast<int>(i));
  }
  return units;
}

void keep_remainder(const RoundWork& work, Ledger& ledger) {
  ledger.started = work.started;
  ledger.units.clear();
  for (const Unit& unit : work.units) {
    if (!unit.done) ledger.units.push_back(unit);
  }
}

std::vector<Help> share_out(const std::vector<int>& units,
                            const std::vector<WorkerId>& helpers,
                            const Game& game,
                            const RoundWork& work) {
  std::vector<Help> help;
  const std::vector<std::vector<WorkerId>> holders = by_part(helpers, game.groups);
  const int part_chunks = game.chunks / game.groups;
  for (int g = 0; g < game.groups; ++g) {
    const std::vector<WorkerId>& of_part = holders[static_cast<std::size_t>(g)];
    std::vector<int> open;
    std::ranges::copy_if(units, std::back_inserter(open), [&](int unit) {
      return work.units[static_cast<std::size_t>(unit)].begin / part_chunks == g;
    });
    if (of_part.empty() || open.empty()) continue;
    const std::size_t first = help.size();
    const std::size_t most = std::min(of_part.size(), kRescueCopies * open.size());
    for (std::size_t h = 0; h < most; ++h) help.push_back({of_part[h], {}});
    std::size_t next = 0;
    for (std::size_t copy = 0; copy < kRescueCopies; ++copy) {
      for (const int unit : open) {
        if (copy > 0 && next >= most) break;
        help[first + next++ % most].units.push_back(unit);
      }
    }
  }
  return help;
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
  Ranking ranking;
  ranking.keys = base;
  const auto by_base = ranking.rank();
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
