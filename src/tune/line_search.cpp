#include "tune/line_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "paceline/close_policy.hpp"
#include "tune/parallel.hpp"

namespace paceline {
namespace {

/// A place in the search space.
struct Point {
  int line = 0;
  int value = 0;
  int close = 0;  ///< index into the line's close policies

  auto operator<=>(const Point&) const = default;
};

/// What is known about a point.
struct Record {
  bool good = true;             ///< false: refused, or it never ends
  std::vector<double> seconds;  ///< whole plays, by resample
  double short_play = std::numeric_limits<double>::infinity();  ///< seconds per job
  SchemeInfo info;
};

/// How long the candidates of one step are played.
struct Rung {
  int jobs = 0;
  int resamples = 1;
};

std::vector<Rung> rungs_of(const Arena& arena) {
  constexpr int kFewestJobs = 30;
  const int jobs = arena.jobs();
  std::vector<Rung> rungs = {{std::min(jobs, std::max(kFewestJobs, jobs / 3)), 1}, {jobs, 1}};
  if (arena.resamples() > 4) rungs.push_back({jobs, 4});
  if (arena.resamples() > 1) rungs.push_back({jobs, arena.resamples()});
  return rungs;
}

/// low, 4 low, 16 low, ..., high; after 0 comes 1.
std::vector<int> coarse_values(int low, int high) {
  constexpr int kStep = 4;
  std::vector<int> values;
  for (long long value = low; value < high; value = std::max(1LL, kStep * value)) {
    values.push_back(static_cast<int>(value));
  }
  values.push_back(high);
  return values;
}

/// The geometric middle of two values, or the arithmetic one beside 0; nothing between neighbours.
std::optional<int> between(int a, int b) {
  if (std::abs(a - b) <= 1) return std::nullopt;
  const auto [low, high] = std::minmax(a, b);
  const double middle = low == 0 ? high / 2.0 : std::sqrt(static_cast<double>(low) * high);
  return std::clamp(static_cast<int>(std::lround(middle)), low + 1, high - 1);
}

class Searcher {
 public:
  Searcher(const std::vector<CandidateLine>& lines, const LineSearch& search)
      : lines_(lines), search_(search), arena_(*search.arena), rungs_(rungs_of(arena_)) {}

  LineResult run() {
    std::vector<Point> points = coarse_points();
    for (std::size_t rung = 0; rung + 1 < rungs_.size(); ++rung) {
      play(points, rung);
      points = survivors(std::move(points), rung);
      if (stopped_) break;
      add_neighbours(points);
    }
    play(points, last());
    climb();
    LineResult result;
    result.best = choose();
    result.interrupted = stopped_;
    for (const auto& [point, record] : records_) {
      if (is_known(record)) result.trials.push_back(trial(point, record));
    }
    return result;
  }

 private:
  std::size_t last() const { return rungs_.size() - 1; }

  std::vector<Point> coarse_points() const {
    std::vector<Point> points;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      const CandidateLine& line = lines_[l];
      for (const int value : coarse_values(line.low, line.high)) {
        points.push_back({static_cast<int>(l), value, line.first_close});
      }
    }
    return points;
  }

  Candidate candidate(const Point& point) const {
    const CandidateLine& line = lines_[static_cast<std::size_t>(point.line)];
    Candidate candidate = line.at(point.value);
    candidate.close = line.closes[static_cast<std::size_t>(point.close)];
    return candidate;
  }

  static bool is_known(const Record& record) {
    return record.good && (!record.seconds.empty() || std::isfinite(record.short_play));
  }

  /// Seconds per job, by all whole plays; by the short one where there is none.
  double score(const Record& record) const {
    if (!record.good) return std::numeric_limits<double>::infinity();
    if (record.seconds.empty()) return record.short_play;
    double sum = 0;
    for (const double seconds : record.seconds) sum += seconds;
    return sum / static_cast<double>(record.seconds.size()) / arena_.jobs();
  }

  /// Plays what the rung asks for and has not been played yet.
  void play(const std::vector<Point>& points, std::size_t rung) {
    struct Task {
      Point point;
      int resample;
      double seconds = std::numeric_limits<double>::infinity();
      std::optional<SchemeInfo> info;
    };

    const auto [jobs, resamples] = rungs_[rung];
    std::vector<Task> tasks;
    for (const Point& point : points) {
      const Record& record = records_[point];
      if (!record.good) continue;
      const int first = static_cast<int>(record.seconds.size());
      for (int b = first; b < resamples; ++b) tasks.push_back({point, b, {}, {}});
    }
    constexpr std::size_t kBetweenReports = 64;
    for (std::size_t done = 0; done < tasks.size() && !stopped_; done += kBetweenReports) {
      report(rung, static_cast<double>(done) / static_cast<double>(tasks.size()));
      const std::size_t count = std::min(kBetweenReports, tasks.size() - done);
      const auto play_one = [&, jobs = jobs](std::size_t i) {
        Task& task = tasks[done + i];
        auto played = arena_.play(candidate(task.point), task.resample, jobs);
        if (!played) return;
        task.seconds = played->result.total.count();
        task.info = std::move(played->info);
      };
      stopped_ =
          !parallel_for(count, search_.control.threads, search_.control.interrupted, play_one);
    }
    if (stopped_) return;  // some tasks were not played: their numbers mean nothing
    for (Task& task : tasks) {
      Record& record = records_[task.point];
      if (!task.info) {
        record.good = false;
        continue;
      }
      record.info = std::move(*task.info);
      if (jobs == arena_.jobs()) {
        record.seconds.push_back(task.seconds);
      } else {
        record.short_play = task.seconds / jobs;
      }
    }
  }

  void report(std::size_t rung, double within) const {
    if (!search_.control.on_progress) return;
    SearchProgress progress;
    progress.what = search_.what;
    const double mine =
        (static_cast<double>(rung) + within) / static_cast<double>(rungs_.size() + 1);
    progress.done = search_.done + search_.share * mine;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [point, record] : records_) {
      if (!is_known(record) || score(record) >= least) continue;
      least = score(record);
      progress.best = fmt::format("{}, {:.4g} s per job", record.info.label(), least);
    }
    search_.control.on_progress(progress);
  }

  void sort_by_score(std::vector<Point>& points) const {
    std::ranges::sort(points, [&](const Point& a, const Point& b) {
      const Record& first = records_.at(a);
      const Record& second = records_.at(b);
      return std::tuple(score(first), first.info.load, a) <
             std::tuple(score(second), second.info.load, b);
    });
  }

  /// The better part of the points.
  std::vector<Point> survivors(std::vector<Point> points, std::size_t rung) {
    constexpr std::size_t kFraction = 5;
    constexpr std::size_t kFewest[] = {24, 10, 4};
    std::erase_if(points, [&](const Point& point) { return !is_known(records_[point]); });
    sort_by_score(points);
    const std::size_t keep =
        std::max(points.size() / kFraction, kFewest[std::min(rung, std::size_t{2})]);
    points.resize(std::min(points.size(), keep));
    return points;
  }

  /// Points between this one and those known beside it on its line, or, where nothing is known with
  /// its close policy on a side, what is known there with another one; and more or less patience.
  std::vector<Point> neighbours(const Point& point) const {
    std::set<int> same_close;
    std::set<int> any_close;
    for (auto it = records_.lower_bound({point.line, std::numeric_limits<int>::min(), 0});
         it != records_.end() && it->first.line == point.line;
         ++it) {
      any_close.insert(it->first.value);
      if (it->first.close == point.close) same_close.insert(it->first.value);
    }
    std::vector<Point> found;
    const auto look = [&](auto beside) {
      if (const std::optional<int> value = beside(same_close)) {
        if (const std::optional<int> middle = between(point.value, *value)) {
          found.push_back({point.line, *middle, point.close});
        }
      } else if (const std::optional<int> other = beside(any_close)) {
        found.push_back({point.line, *other, point.close});
      }
    };
    look([&](const std::set<int>& values) -> std::optional<int> {
      const auto above = values.upper_bound(point.value);
      return above == values.end() ? std::nullopt : std::optional(*above);
    });
    look([&](const std::set<int>& values) -> std::optional<int> {
      const auto here = values.lower_bound(point.value);
      return here == values.begin() ? std::nullopt : std::optional(*std::prev(here));
    });
    const auto closes =
        static_cast<int>(lines_[static_cast<std::size_t>(point.line)].closes.size());
    if (point.close > 0) found.push_back({point.line, point.value, point.close - 1});
    if (point.close + 1 < closes) found.push_back({point.line, point.value, point.close + 1});
    std::erase_if(found, [&](const Point& other) { return records_.contains(other); });
    return found;
  }

  /// Of the best ones. @pre sorted by score
  void add_neighbours(std::vector<Point>& points) const {
    constexpr std::size_t kMost = 12;
    std::set<Point> all(points.begin(), points.end());
    for (std::size_t i = 0; i < std::min(kMost, points.size()); ++i) {
      for (const Point& other : neighbours(points[i])) all.insert(other);
    }
    points.assign(all.begin(), all.end());
  }

  /// Whether the point has been played as long as any can be.
  bool is_final(const Record& record) const {
    return record.good && static_cast<int>(record.seconds.size()) == rungs_[last()].resamples;
  }

  std::vector<Point> final_points() const {
    std::vector<Point> points;
    for (const auto& [point, record] : records_) {
      if (is_final(record)) points.push_back(point);
    }
    sort_by_score(points);
    return points;
  }

  /// Looks beside the best point until nothing there is new.
  void climb() {
    constexpr int kMostSteps = 12;
    for (int step = 0; step < kMostSteps && !stopped_; ++step) {
      const std::vector<Point> points = final_points();
      if (points.empty()) return;
      const std::vector<Point> beside = neighbours(points.front());
      if (beside.empty()) return;
      play(beside, last());
    }
  }

  bool can_train(const Point& point) const {
    if (!search_.must_train) return true;
    const Candidate wanted = candidate(point);
    const auto policy = make_close_policy(wanted.close);
    if (!policy) return false;
    return make_scheme(wanted.scheme,
                       {.workers = records_.at(point).info.workers, .rule = (*policy)->rule()})
        .has_value();
  }

  /// The best point that training accepts; of those that are as good but for noise nobody would
  /// notice, the one with the least load.
  std::optional<Trial> choose() {
    constexpr double kAsGood = 1.002;
    std::vector<Point> points = final_points();
    if (!points.empty()) {
      const double enough = kAsGood * score(records_[points.front()]);
      std::ranges::stable_sort(points, {}, [&](const Point& point) {
        const Record& record = records_[point];
        const bool as_good = score(record) <= enough;
        return std::tuple(!as_good, as_good ? record.info.load : score(record));
      });
    }
    std::vector<Point> rest;  // played for a shorter while
    for (const auto& [point, record] : records_) {
      if (is_known(record) && !is_final(record)) rest.push_back(point);
    }
    sort_by_score(rest);
    points.insert(points.end(), rest.begin(), rest.end());
    for (const Point& point : points) {
      if (!can_train(point)) continue;
      if (!stopped_) play({point}, last());
      if (is_known(records_[point])) return trial(point, records_[point]);
    }
    return std::nullopt;
  }

  Trial trial(const Point& point, const Record& record) const {
    Trial trial;
    trial.family = search_.family;
    trial.candidate = candidate(point);
    trial.info = record.info;
    trial.seconds_per_job = score(record);
    trial.jobs = record.seconds.empty() ? rungs_.front().jobs
                                        : static_cast<int>(record.seconds.size()) * arena_.jobs();
    return trial;
  }

  const std::vector<CandidateLine>& lines_;
  const LineSearch& search_;
  const Arena& arena_;
  std::vector<Rung> rungs_;
  std::map<Point, Record> records_;
  bool stopped_ = false;
};

}  // namespace

CloseLists searched_closes(CloseRule rule) {
  std::vector<std::string> multiples;
  for (const char* mu : {"0.1", "0.25", "0.5", "1", "2"}) {
    const char* policy = rule == CloseRule::kPublished ? "published" : "conforming";
    const char* reading = rule == CloseRule::kDecodable ? ",rule=decodable" : "";
    multiples.push_back(fmt::format("{}:mu={}{}", policy, mu, reading));
  }
  if (rule == CloseRule::kPublished) return {multiples};
  const bool model = rule == CloseRule::kModel;
  std::vector<std::string> fractions = {model ? "eager:rule=model" : "eager"};
  for (const char* q : {"0.5", "0.75", "0.9", "0.95", "0.98"}) {
    fractions.push_back(fmt::format("quantile:q={}{}", q, model ? ",rule=model" : ""));
  }
  return {fractions, multiples};
}

CloseLists searched_closes() {
  CloseLists all = searched_closes(CloseRule::kDecodable);
  for (auto& list : searched_closes(CloseRule::kModel)) all.push_back(std::move(list));
  return all;
}

std::vector<CandidateLine> candidate_lines(const SearchFamily& family, const CloseLists& closes) {
  std::vector<CandidateLine> lines;
  for (const SearchLine& line : family.lines) {
    for (const std::vector<std::string>& list : closes) {
      const auto at = [text = line.text](int value) { return Candidate{text(value), {}, {}}; };
      // Eager itself first; of waits that are multiples of the fastest answer a moderate one.
      const bool from_eager = list.front().starts_with("eager");
      const int first = from_eager ? 0 : static_cast<int>(list.size()) / 2;
      lines.push_back({line.low, line.high, at, list, first});
    }
  }
  return lines;
}

LineResult search_lines(const std::vector<CandidateLine>& lines, const LineSearch& search) {
  return Searcher(lines, search).run();
}

}  // namespace paceline
