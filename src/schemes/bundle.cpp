// A round has a fixed price (the slowest message one must wait for), and M models need not start
// one job per round: m jobs side by side divide that price by m. Workers are dealt out in turn, so
// that neighbours, who straggle together, belong to different jobs.
#include "schemes/bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/cloned.hpp"

namespace paceline {
namespace {

class Bundle final : public Scheme {
 public:
  Bundle(std::unique_ptr<Scheme> inner, int m)
      : info_(inner->info()),
        copies_(static_cast<std::size_t>(m), Cloned<Scheme>(std::move(inner))),
        part_missing_(info_.workers),
        part_loads_(static_cast<std::size_t>(info_.workers)) {
    if (!info_.parameters.empty()) info_.parameters += ",";
    info_.parameters += fmt::format("bundle={}", m);
    info_.workers *= m;
    info_.jobs_per_round *= m;
    info_.open_jobs *= m;
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    RoundPlan plan;
    plan.per_worker.resize(static_cast<std::size_t>(info_.workers));
    for (int u = 0; u < copies(); ++u) {
      RoundPlan part = copy(u)->plan(round);
      for (std::size_t w = 0; w < part.per_worker.size(); ++w) {
        for (MiniTask& task : part.per_worker[w]) task.job = outer_job(task.job, u);
        plan.per_worker[outer_worker(w, u)] = std::move(part.per_worker[w]);
      }
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    Answers part(info_.workers / copies());
    for (int u = 0; u < copies(); ++u) {
      share(answers, u, part);
      if (!copy(u)->may_close(round, part)) return false;
    }
    return true;
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    std::vector<Decoding> decodings;
    Answers part(info_.workers / copies());
    for (int u = 0; u < copies(); ++u) {
      share(answers, u, part);
      append(copy(u)->close(round, part), u, decodings);
    }
    return decodings;
  }

  std::vector<Decoding> late(const LateAnswer& answer) override {
    const int u = answer.worker.value % copies();
    LateAnswer part = answer;
    part.worker = WorkerId{answer.worker.value / copies()};
    std::vector<Decoding> decodings;
    append(copy(u)->late(part), u, decodings);
    return decodings;
  }

  bool timeless() const override { return copy(0)->timeless(); }

  bool answers_decide() const override { return copy(0)->answers_decide(); }

  int loads(Round round, int jobs, std::span<double> loads) const override {
    int busy = 0;
    for (int u = 0; u < copies(); ++u) {
      busy += copy(u)->loads(round, inner_jobs(jobs, u), part_loads_);
      for (std::size_t w = 0; w < part_loads_.size(); ++w) {
        loads[outer_worker(w, u)] = part_loads_[w];
      }
    }
    return busy;
  }

  bool may_pass(Round round, const WorkerSet& missing) const override {
    for (int u = 0; u < copies(); ++u) {
      if (!copy(u)->may_pass(round, share(missing, u))) return false;
    }
    return true;
  }

  Moment first_pass(Round round, Arrivals& arrivals) const override {
    Moment last = kBeforeAnswers;
    for (int u = 0; u < copies(); ++u) {
      const Moment first = copy(u)->first_pass(round, arrivals.part(u, copies()));
      last = std::max(last, Arrivals::whole(first, u, copies()));
    }
    return last;
  }

  int pass(Round round, const WorkerSet& missing, int jobs) override {
    int decoded = 0;
    for (int u = 0; u < copies(); ++u) {
      decoded += copy(u)->pass(round, share(missing, u), inner_jobs(jobs, u));
    }
    return decoded;
  }

  bool study() override {
    bool more = false;
    for (auto& copy : copies_) more = copy->study() || more;
    return more;
  }

  bool spares_stragglers(Round round) const override { return copy(0)->spares_stragglers(round); }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Bundle>(*this); }

 private:
  int copies() const { return static_cast<int>(copies_.size()); }

  const Cloned<Scheme>& copy(int u) const { return copies_[static_cast<std::size_t>(u)]; }

  JobId outer_job(JobId job, int u) const { return {job.value * copies() + u}; }

  std::size_t outer_worker(std::size_t worker, int u) const {
    return worker * copies_.size() + static_cast<std::size_t>(u);
  }

  /// How many of the first `jobs` jobs are copy u's.
  int inner_jobs(int jobs, int u) const {
    return jobs == kEndless ? kEndless : (jobs - u + copies() - 1) / copies();
  }

  /// Which of copy u's workers are missing.
  const WorkerSet& share(const WorkerSet& missing, int u) const {
    part_missing_.clear();
    for (int w = 0; w < part_missing_.workers(); ++w) {
      if (missing.contains(WorkerId{w * copies() + u})) part_missing_.insert(WorkerId{w});
    }
    return part_missing_;
  }

  /// What the workers of copy u have answered.
  void share(const Answers& answers, int u, Answers& part) const {
    for (std::size_t w = 0; w < part.done.size(); ++w) {
      const std::size_t i = outer_worker(w, u);
      part.done[w] = answers.done[i];
      part.time[w] = answers.time[i];
      part.compute[w] = answers.compute[i];
      part.waited[w] = answers.waited[i];
    }
  }

  void append(std::vector<Decoding> added, int u, std::vector<Decoding>& decodings) const {
    for (Decoding& decoding : added) {
      decoding.job = outer_job(decoding.job, u);
      for (Coefficient& term : decoding.terms) {
        WorkerId& worker = term.message.worker;
        worker = WorkerId{static_cast<int>(outer_worker(worker.index(), u))};
      }
      decodings.push_back(std::move(decoding));
    }
  }

  SchemeInfo info_;
  std::vector<Cloned<Scheme>> copies_;

  // of one copy, kept so that asking allocates nothing
  mutable WorkerSet part_missing_;
  mutable std::vector<double> part_loads_;
};

}  // namespace

std::unique_ptr<Scheme> make_bundle(std::unique_ptr<Scheme> inner, int m) {
  PACELINE_CHECK(inner != nullptr && m >= 1 && !inner->adds_work());
  return std::make_unique<Bundle>(std::move(inner), m);
}

}  // namespace paceline
