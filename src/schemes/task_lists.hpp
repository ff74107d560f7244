// For schemes in which a worker does the same list of tasks in every round, each time of another
// job.
#pragma once

#include <vector>

#include "paceline/scheme.hpp"

namespace paceline {

/// The round that begins `job`. @param lists  by worker: its tasks, of whatever job
inline RoundPlan plan_of(const std::vector<std::vector<MiniTask>>& lists, JobId job) {
  RoundPlan plan{lists};
  for (auto& list : plan.per_worker) {
    for (MiniTask& task : list) task.job = job;
  }
  return plan;
}

}  // namespace paceline
