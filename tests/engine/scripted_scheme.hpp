// A scheme that plays a script: every answer it gives is a function of the test. By default it is
// the simplest one there is: in round t every worker makes one message for job t, and the round may
// close, and the job is decoded, when `need` workers have answered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/close_policy.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"

namespace paceline::test {

struct Script {
  SchemeInfo info;
  std::function<RoundPlan(Round)> plan;
  std::function<bool(Round, const Answers&)> may_close;
  std::function<std::vector<Decoding>(Round, const Answers&)> close;
  std::function<RoundPlan(Round, const Answers&)> more;  ///< empty: the scheme never adds work
  std::function<std::vector<Decoding>(const LateAnswer&)> late;
};

class ScriptedScheme final : public Scheme {
 public:
  explicit ScriptedScheme(Script script) : script_(std::move(script)) {}

  const SchemeInfo& info() const override { return script_.info; }

  RoundPlan plan(Round round) const override { return script_.plan(round); }

  bool may_close(Round round, const Answers& answers) const override {
    return script_.may_close(round, answers);
  }

  RoundPlan more(Round round, const Answers& answers) override {
    return script_.more(round, answers);
  }

  bool adds_work() const override { return script_.more != nullptr; }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    return script_.close(round, answers);
  }

  std::vector<Decoding> late(const LateAnswer& answer) override {
    if (!script_.late) return {};
    return script_.late(answer);
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<ScriptedScheme>(*this); }

 private:
  Script script_;
};

/// The row of a plain sum over one chunk.
inline Row one_chunk(int chunk) { return Row({{ChunkId{chunk}, 1}}); }

/// One task for job t for every worker, of load 1/n.
inline RoundPlan one_task_each(int workers, JobId job) {
  RoundPlan plan;
  for (int i = 0; i < workers; ++i) plan.per_worker.push_back({{job, one_chunk(i), 1.0 / workers}});
  return plan;
}

inline int answered(const Answers& answers) {
  int count = 0;
  for (const int done : answers.done) count += done > 0 ? 1 : 0;
  return count;
}

/// The sum of the first messages of all who answered in `round`.
inline Decoding sum_of_answers(JobId job, Round round, const Answers& answers) {
  Decoding decoding;
  decoding.job = job;
  for (std::size_t i = 0; i < answers.done.size(); ++i) {
    if (answers.done[i] == 0) continue;
    decoding.terms.push_back({MessageId{WorkerId{static_cast<int>(i)}, round, 0}, 1});
  }
  return decoding;
}

inline Script simple_script(int workers, int need) {
  Script script;
  script.info.name = "scripted";
  script.info.workers = workers;
  script.info.load = 1.0 / workers;
  script.info.chunk_size.assign(static_cast<std::size_t>(workers), 1.0 / workers);
  script.plan = [workers](Round round) { return one_task_each(workers, JobId{round.value}); };
  script.may_close = [need](Round, const Answers& answers) { return answered(answers) >= need; };
  script.close = [](Round round, const Answers& answers) {
    return std::vector<Decoding>{sum_of_answers(JobId{round.value}, round, answers)};
  };
  return script;
}

inline std::unique_ptr<Scheme> make_scripted(Script script) {
  return std::make_unique<ScriptedScheme>(std::move(script));
}

/// A round coordinator that plays the script.
inline std::unique_ptr<Coordinator> make(Script script,
                                         std::string_view policy,
                                         const RoundOptions& options) {
  return make_round_coordinator(
             make_scripted(std::move(script)), make_close_policy(policy).value(), options)
      .value();
}

}  // namespace paceline::test
