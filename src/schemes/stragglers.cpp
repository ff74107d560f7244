#include "paceline/check.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

WorkerSet stragglers(const RoundPlan& plan, const Answers& answers) {
  PACELINE_CHECK(plan.per_worker.size() == answers.done.size());
  WorkerSet set(static_cast<int>(plan.per_worker.size()));
  for (std::size_t i = 0; i < plan.per_worker.size(); ++i) {
    const auto tasks = static_cast<int>(plan.per_worker[i].size());
    if (answers.done[i] < tasks) set.insert(WorkerId{static_cast<int>(i)});
  }
  return set;
}

}  // namespace paceline
