#include "schemes/relay_progress.hpp"

#include <algorithm>
#include <cstddef>

namespace paceline::relay {
namespace {

constexpr std::size_t kBlock = 256;  // workers compared at once

}  // namespace

void RoundProgress::follow(const Record& record, const Answers& answers) {
  if (!known_) return start(record, answers);
  const std::vector<int>& now = answers.done;
  for (std::size_t begin = 0; begin < now.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, now.size());
    if (std::equal(&now[begin], &now[begin] + (end - begin), &seen_[begin])) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (now[i] == seen_[i]) continue;
      // A second answer of a worker replaces the time of its first one; fewer answers are others.
      if (seen_[i] != 0) return start(record, answers);
      answer(record, answers, i);
    }
  }
}

void RoundProgress::start(const Record& record, const Answers& answers) {
  const RoundWork& work = record.work;
  known_ = true;
  seen_.assign(answers.done.size(), 0);
  done_.resize(work.units.size());
  open_due_ = 0;
  open_others_ = 0;
  answered_ = 0;
  missing_ = 0;
  first_ = kNever;
  last_ = Seconds{0};
  for (std::size_t u = 0; u < work.units.size(); ++u) {
    const Unit& unit = work.units[u];
    done_[u] = unit.done ? 1 : 0;
    if (unit.done) continue;
    (work.due(unit) ? open_due_ : open_others_) += work.due(unit) || work.assigned[u] ? 1 : 0;
  }
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (answers.done[i] > 0) answer(record, answers, i);
  }
}

void RoundProgress::answer(const Record& record, const Answers& answers, std::size_t worker) {
  const RoundWork& work = record.work;
  const int done = answers.done[worker];
  seen_[worker] = done;
  if (work.count[worker] > 0) mark(work, work.first[worker]);
  if (work.count[worker] > 1) {
    for (const Copy& copy : work.more) {
      if (copy.worker.index() == worker && copy.task < done) mark(work, copy.unit);
    }
  }
  if (record.ordered[worker] == 0 || done < record.ordered[worker]) return;
  ++answered_;
  first_ = std::min(first_, answers.time[worker]);
  last_ = std::max(last_, answers.time[worker]);
}

void RoundProgress::mark(const RoundWork& work, int unit) {
  const auto u = static_cast<std::size_t>(unit);
  if (done_[u] != 0) return;
  done_[u] = 1;
  if (work.due(work.units[u])) {
    --open_due_;
  } else if (work.assigned[u] != 0) {
    --open_others_;
  }
}

}  // namespace paceline::relay
