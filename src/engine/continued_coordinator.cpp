#include "paceline/continued_coordinator.hpp"

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/cloned.hpp"

namespace paceline {
namespace {

class ContinuedCoordinator final : public Coordinator {
 public:
  ContinuedCoordinator(std::unique_ptr<Coordinator> inner, std::vector<Version> versions)
      : inner_(std::move(inner)),
        versions_(std::move(versions)),
        first_(first_open_job(versions_).value) {}

  Actions start(Seconds now) override { return translated(inner_->start(now)); }

  Actions on(const Event& event, Seconds now) override {
    return translated(inner_->on(event, now));
  }

  bool study() override { return inner_->study(); }

  int start_no_more_jobs() override { return inner_->start_no_more_jobs(); }

  std::unique_ptr<Coordinator> clone() const override {
    return std::make_unique<ContinuedCoordinator>(*this);
  }

 private:
  int models() const { return static_cast<int>(versions_.size()); }

  JobId translated(JobId job) const { return JobId{job.value + first_}; }

  ModelId model_of(JobId job) const { return ModelId{job.value % models()}; }

  Version read_by(JobId job) const { return Version{job.value / models()}; }

  bool was_decoded(JobId job) const {
    return job.value >= 0 && read_by(job) < versions_[model_of(job).index()];
  }

  std::vector<JobId> translated(std::vector<JobId> jobs) const {
    for (JobId& job : jobs) job = translated(job);
    std::erase_if(jobs, [&](JobId job) { return was_decoded(job); });
    return jobs;
  }

  Actions translated(Actions actions) const {
    for (Action& action : actions) {
      if (auto* send = std::get_if<Send>(&action)) {
        for (Task& task : send->order.tasks) {
          if (task.row.terms().empty()) continue;
          task.job = translated(task.job);
          task.model = model_of(task.job);
          task.reads = read_by(task.job);
          if (was_decoded(task.job)) task.row = Row();
        }
      } else if (auto* apply = std::get_if<Apply>(&action)) {
        apply->job = apply->sum.job = translated(apply->job);
        apply->model = model_of(apply->job);
        apply->makes = Version{read_by(apply->job).value + 1};
      } else if (auto* record = std::get_if<RoundRecord>(&action)) {
        record->started = translated(std::move(record->started));
        record->decoded = translated(std::move(record->decoded));
      }
    }
    std::erase_if(actions, [&](const Action& action) {
      const auto* apply = std::get_if<Apply>(&action);
      return apply != nullptr && was_decoded(apply->job);
    });
    return actions;
  }

  Cloned<Coordinator> inner_;
  std::vector<Version> versions_;
  int first_;
};

}  // namespace

JobId first_open_job(const std::vector<Version>& versions) {
  PACELINE_CHECK(!versions.empty());
  // Model m's next job is versions[m] * M + m.
  const auto models = static_cast<int>(versions.size());
  int first = versions[0].value * models;
  for (int m = 1; m < models; ++m) {
    first = std::min(first, versions[static_cast<std::size_t>(m)].value * models + m);
  }
  return JobId{first};
}

std::unique_ptr<Coordinator> continue_jobs(std::unique_ptr<Coordinator> inner,
                                           std::vector<Version> versions) {
  return std::make_unique<ContinuedCoordinator>(std::move(inner), std::move(versions));
}

}  // namespace paceline
