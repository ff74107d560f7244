#include "dashboard/worker_scores.hpp"

#include <algorithm>

namespace paceline {

void WorkerScores::Worker::add(float seconds) {
  if (in_order.size() < kWindow) {
    in_order.push_back(seconds);
  } else {
    sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), in_order[oldest]));
    in_order[oldest] = seconds;
    oldest = (oldest + 1) % kWindow;
  }
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), seconds), seconds);
  // A few lucky rounds at the start are no history.
  if (sorted.size() == kWindow) best = std::min(best, median());
}

double WorkerScores::Worker::median() const {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

void WorkerScores::add(const RoundRecord& record) {
  const double took = (record.closed - record.opened).count();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    const bool straggled = record.stragglers.contains(WorkerId{static_cast<int>(i)});
    const Seconds answered = record.answers.time[i];
    if (!straggled && answered == kNever) continue;  // no work
    ++worker.worked;
    worker.straggled += straggled ? 1 : 0;
    worker.add(static_cast<float>(straggled ? took : answered.count()));
  }
}

void WorkerScores::forget_times() {
  for (Worker& worker : workers_) {
    worker.in_order.clear();
    worker.sorted.clear();
    worker.oldest = 0;
    worker.best = kNever.count();
  }
}

std::vector<WorkerScore> WorkerScores::scores() const {
  std::vector<WorkerScore> scores(workers_.size());
  double best = kNever.count();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    scores[i].worked = workers_[i].worked;
    scores[i].straggled = workers_[i].straggled;
    if (workers_[i].sorted.empty()) continue;
    scores[i].seconds = workers_[i].median();
    best = std::min(best, scores[i].seconds);
  }
  // A time of 0 cannot be beaten.
  const auto score = [](double reference, double time) { return time > 0 ? reference / time : 1; };
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].sorted.empty()) continue;
    scores[i].relative = score(best, scores[i].seconds);
    if (workers_[i].best < kNever.count()) {
      scores[i].individual = score(workers_[i].best, scores[i].seconds);
    }
  }
  return scores;
}

}  // namespace paceline
