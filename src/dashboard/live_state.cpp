#include "paceline/live_state.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include "dashboard/worker_scores.hpp"

namespace paceline {
namespace {

constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

/// Takes in the column after it.
void absorb(LiveColumn& column, const LiveColumn& next) {
  column.rounds += next.rounds;
  column.seconds.add(next.seconds);
  column.stragglers += next.stragglers;
  column.closed = next.closed;
  column.jobs = next.jobs;
  column.slowest = next.slowest;
  column.limit = next.limit;
  for (std::size_t m = 0; m < column.loss.size(); ++m) column.loss[m].add(next.loss[m]);
  for (std::size_t i = 0; i < column.response.size(); ++i) {
    column.response[i].add(next.response[i]);
    column.straggled[i] += next.straggled[i];
  }
}

/// Even, so that columns pair up.
int most_columns(int workers) {
  return std::clamp(LiveState::kMostCells / std::max(1, workers), 64, LiveState::kMostColumns) / 2 *
         2;
}

}  // namespace

std::optional<Seconds> LiveView::left() const {
  if (jobs <= 0) return std::nullopt;
  return newest_round.closed / jobs * std::max(0, scheme.jobs - jobs);
}

struct LiveState::Parts {
  mutable std::mutex mutex;
  LiveRun run;
  std::vector<EndedScheme> before;
  LiveTotals totals;

  // of the scheme that is played
  LiveScheme scheme;
  std::string playing;
  bool ended = true;
  int rounds = 0;
  int stragglers = 0;
  int wait_outs = 0;
  Seconds opened{0};  ///< its first round
  std::vector<double> loss;
  WorkerScores scores{0};
  int stride = 1;
  std::vector<LiveColumn> columns;
  std::deque<LiveColumn> newest;

  LiveColumn column_of(const RoundRecord& record,
                       std::span<const JobLoss> losses,
                       const RoundBounds& bounds) const;
  void count(const RoundRecord& record, std::span<const JobLoss> losses);
  void append(const LiveColumn& column);
  void end();
  LiveView numbers() const;
};

LiveColumn LiveState::Parts::column_of(const RoundRecord& record,
                                       std::span<const JobLoss> losses,
                                       const RoundBounds& bounds) const {
  const auto workers = static_cast<std::size_t>(run.workers);
  LiveColumn column;
  column.round = record.round.value;
  column.rounds = 1;
  column.seconds.add((record.closed - record.opened).count());
  column.stragglers = record.stragglers.size();
  column.closed = record.closed - opened;
  column.jobs = static_cast<int>(losses.size());
  column.slowest = bounds.slowest;
  column.limit = bounds.limit;
  if (!newest.empty()) {
    column.jobs += newest.back().jobs;
    column.slowest.reset();
    if (bounds.slowest && newest.back().slowest) {
      column.slowest = *newest.back().slowest + *bounds.slowest;
    }
  }
  column.loss.resize(run.models.size());
  for (const JobLoss& each : losses) column.loss[each.model.index()].add(each.loss);
  column.response.resize(workers);
  column.straggled.resize(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    if (record.stragglers.contains(WorkerId{static_cast<int>(i)})) {
      column.straggled[i] = 1;
    } else if (record.answers.time[i] != kNever) {
      column.response[i].add(record.answers.time[i].count());
    }
  }
  return column;
}

void LiveState::Parts::count(const RoundRecord& record, std::span<const JobLoss> losses) {
  const double took = (record.closed - record.opened).count();
  const auto& ends = LiveTotals::kRoundSeconds;
  ++totals.round_counts[static_cast<std::size_t>(
      std::distance(ends.begin(), std::lower_bound(ends.begin(), ends.end(), took)))];
  totals.round_seconds += took;
  ++totals.rounds;
  totals.jobs += static_cast<long long>(losses.size());
  record.stragglers.for_each([this](WorkerId worker) { ++totals.straggled[worker.index()]; });
  stragglers += record.stragglers.size();
  if (record.waited_out) {
    ++totals.wait_outs;
    ++wait_outs;
  }
  ++rounds;
  for (const JobLoss& each : losses) loss[each.model.index()] = each.loss;
}

void LiveState::Parts::append(const LiveColumn& column) {
  if (!columns.empty() && columns.back().rounds < stride) {
    absorb(columns.back(), column);
    return;
  }
  if (static_cast<int>(columns.size()) == most_columns(run.workers)) {
    for (std::size_t c = 0; 2 * c < columns.size(); ++c) {
      absorb(columns[2 * c], columns[2 * c + 1]);
      if (c > 0) columns[c] = std::move(columns[2 * c]);
    }
    columns.resize(columns.size() / 2);
    stride *= 2;
  }
  columns.push_back(column);
}

void LiveState::Parts::end() {
  if (std::exchange(ended, true) || newest.empty()) return;
  const LiveColumn& last = newest.back();
  before.push_back({.label = scheme.label,
                    .whole = last.jobs >= scheme.jobs,
                    .jobs = last.jobs,
                    .rounds = rounds,
                    .elapsed = last.closed,
                    .slowest = last.slowest,
                    .limit = last.limit});
}

LiveView LiveState::Parts::numbers() const {
  LiveView view;
  view.run = run;
  view.scheme = scheme;
  view.playing = playing;
  view.ended = ended;
  view.rounds = rounds;
  view.stragglers = stragglers;
  view.wait_outs = wait_outs;
  if (!newest.empty()) {
    view.newest_round = newest.back();
    view.jobs = view.newest_round.jobs;
  }
  view.loss = loss;
  view.workers = scores.scores();
  view.before = before;
  view.totals = totals;
  view.stride = stride;
  return view;
}

LiveState::LiveState() : parts_(std::make_unique<Parts>()) {}

LiveState::~LiveState() = default;

void LiveState::describe(LiveRun run) {
  const std::scoped_lock lock(parts_->mutex);
  parts_->run = std::move(run);
  parts_->totals.straggled.resize(static_cast<std::size_t>(parts_->run.workers));
}

void LiveState::begin(LiveScheme scheme) {
  const std::scoped_lock lock(parts_->mutex);
  Parts& parts = *parts_;
  parts.end();
  parts.playing = scheme.label;
  parts.scheme = std::move(scheme);
  parts.ended = false;
  parts.rounds = 0;
  parts.stragglers = 0;
  parts.wait_outs = 0;
  parts.loss.assign(parts.run.models.size(), kNoLoss);
  parts.scores = WorkerScores(parts.run.workers);
  parts.stride = 1;
  parts.columns.clear();
  parts.newest.clear();
}

void LiveState::add(const RoundRecord& record,
                    std::span<const JobLoss> losses,
                    std::string_view label,
                    const RoundBounds& bounds) {
  const std::scoped_lock lock(parts_->mutex);
  Parts& parts = *parts_;
  PACELINE_CHECK(record.stragglers.workers() == parts.run.workers &&
                 static_cast<int>(record.answers.time.size()) == parts.run.workers);
  if (parts.newest.empty()) parts.opened = record.opened;
  if (parts.playing != label) {
    parts.playing = label;
    parts.scores.forget_times();
  }
  LiveColumn column = parts.column_of(record, losses, bounds);
  parts.count(record, losses);
  parts.scores.add(record);
  parts.append(column);
  parts.newest.push_back(std::move(column));
  if (static_cast<int>(parts.newest.size()) > kNewest) parts.newest.pop_front();
}

void LiveState::end() {
  const std::scoped_lock lock(parts_->mutex);
  parts_->end();
}

LiveView LiveState::numbers() const {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->numbers();
}

LiveView LiveState::view(const Seen& seen) const {
  const std::scoped_lock lock(parts_->mutex);
  const Parts& parts = *parts_;
  LiveView view = parts.numbers();
  view.anew = seen.run != parts.run.id || seen.scheme != parts.scheme.number ||
              seen.stride != parts.stride || seen.rounds < 0 || seen.rounds > parts.rounds;
  const int known = view.anew ? 0 : seen.rounds;
  view.first_column = known / parts.stride;
  view.columns.assign(parts.columns.begin() + view.first_column, parts.columns.end());
  const auto fresh = std::min<std::ptrdiff_t>(parts.rounds - known, std::ssize(parts.newest));
  view.newest.assign(parts.newest.end() - fresh, parts.newest.end());
  return view;
}

}  // namespace paceline
