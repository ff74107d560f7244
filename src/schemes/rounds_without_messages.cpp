// What the functions for rounds without messages do for a scheme that does not write its own: they
// ask plan() and close().
#include <algorithm>

#include "paceline/check.hpp"
#include "paceline/scheme.hpp"

namespace paceline {
namespace {

Answers answers_without(const RoundPlan& plan, const WorkerSet& missing) {
  Answers answers(missing.workers());
  for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
    const bool answered = !missing.contains(WorkerId{static_cast<int>(i)});
    answers.done[i] = answered ? static_cast<int>(plan.per_worker[i].size()) : 0;
  }
  return answers;
}

}  // namespace

int Scheme::loads(Round round, int jobs, std::span<double> loads) const {
  PACELINE_CHECK(timeless());
  const RoundPlan plan = this->plan(round);
  int busy = 0;
  for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
    bool works = false;
    double load = 0;
    for (const MiniTask& task : plan.per_worker[i]) {
      if (jobs != kEndless && (task.job.value < 0 || task.job.value >= jobs)) continue;
      works = true;
      load += task.load;
    }
    loads[i] = works ? load : kNoWork;
    busy += works ? 1 : 0;
  }
  return busy;
}

bool Scheme::may_pass(Round round, const WorkerSet& missing) const {
  PACELINE_CHECK(timeless());
  return may_close(round, answers_without(plan(round), missing));
}

Moment Scheme::first_pass(Round round, Arrivals& arrivals) const {
  return arrivals.first_enough(
      [this, round](const WorkerSet& missing) { return may_pass(round, missing); });
}

int Scheme::pass(Round round, const WorkerSet& missing, int jobs) {
  PACELINE_CHECK(timeless());
  const std::vector<Decoding> decodings = close(round, answers_without(plan(round), missing));
  return static_cast<int>(std::ranges::count_if(decodings, [jobs](const Decoding& decoding) {
    return decoding.complete && decoding.job.value >= 0 && decoding.job.value < jobs;
  }));
}

}  // namespace paceline
