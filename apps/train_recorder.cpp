#include "train_recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "waiting.hpp"

namespace paceline::app {
namespace {

/// "DIR/2-relay:T=3".
std::string event_folder(const std::string& folder, int number, std::string label) {
  std::ranges::replace(label, '/', '_');
  return fmt::format("{}/{}-{}", folder, number, label);
}

}  // namespace

Recorder::Recorder(const Plan& plan,
                   const Setup& setup,
                   int number,
                   RunFiles& files,
                   std::atomic<bool>& stop,
                   LiveState* live)
    : plan_(plan), delays_(setup.delays.source.get()), files_(files), stop_(stop) {
  run_.label = plan.info.label();
  run_.load = plan.info.load;
  run_.decode_delay = plan.info.decode_delay;
  run_.jobs_per_round = plan.info.jobs_per_round;
  run_.predicted = plan.predicted;
  run_.limit = plan.limit;
  run_.time_won = Seconds{0};
  run_.loss.resize(static_cast<std::size_t>(setup.options.models));
  if (!setup.options.tensorboard.empty()) {
    const RunTotals before = plan.resumes ? setup.resume->state.totals : RunTotals{};
    events_.emplace(event_folder(setup.options.tensorboard, number, run_.label),
                    setup.options.models,
                    plan.exactly ? before.jobs : 0,
                    plan.exactly ? 0 : before.rounds);
  }
  state_.scheme = run_.label;
  state_.scheme_number = number;
  state_.schemes = static_cast<int>(setup.plans.size());
  state_.jobs = setup.options.jobs();
  state_.workers = setup.delays.workers;
  state_.loss.assign(static_cast<std::size_t>(setup.options.models),
                     std::numeric_limits<double>::quiet_NaN());
  ProgressOptions display;
  display.fd = STDERR_FILENO;
  display.terminal = is_live_terminal(STDERR_FILENO);
  progress_ = std::make_unique<Progress>(display);
  if (live != nullptr) live_.emplace(*live, plan, setup, number);
}

void Recorder::finish() {
  if (live_) live_->end();
  progress_->finish(state_);
}

void Recorder::say(const std::string& line) {
  progress_->clear();
  fmt::print(stderr, "{}\n", line);
}

/// A run whose metrics are lost is not worth going on.
void Recorder::keep(Expected<void> written) {
  if (written || error_) return;
  error_ = written.error();
  stop_ = true;
}

Expected<void> Recorder::close_events(std::span<const double> accuracy) {
  return events_ ? events_->end(accuracy) : Expected<void>();
}

void Recorder::on_fault(const FaultReport& report) {
  keep(files_.metrics.note(report.round, report.worker, report.what));
  constexpr int kMostSaid = 20;
  if (++faults_ > kMostSaid) return;
  say(fmt::format("paceline: round {}: worker {}: {}{}",
                  report.round.value,
                  report.worker.value,
                  report.what,
                  faults_ == kMostSaid ? " (more are in metrics.jsonl)" : ""));
}

void Recorder::on_round(const RoundReport& report, const std::string& label) {
  const RoundRecord& record = *report.record;
  run_.history.push_back(summarize(record));
  std::vector<JobLoss> losses;
  for (const RoundReport::Job& job : report.jobs) {
    losses.push_back({job.job, job.model, job.loss, job.residual, job.skipped});
    run_.skipped += job.skipped ? 1 : 0;
    residuals_ += job.residual;
    run_.loss[job.model.index()].push_back({record.closed, job.job, job.loss});
    state_.loss[job.model.index()] = job.loss;
  }
  keep(files_.metrics.write(label, record, losses));
  if (files_.table) keep(files_.table->write(label, record, losses));
  if (events_) keep(events_->on_round(record, losses));
  add_time_won(run_.time_won, record, plan_.load(), delays_);
  state_.jobs_done += static_cast<int>(report.jobs.size());
  constexpr double kRounding = 1e-12;
  if (residuals_ > kRounding * state_.jobs_done) run_.mean_residual = residuals_ / state_.jobs_done;
  state_.round = record.round.value;
  state_.elapsed = record.closed;
  state_.stragglers.clear();
  for (int i = 0; i < record.stragglers.workers(); ++i) {
    if (record.stragglers.contains(WorkerId{i})) state_.stragglers.push_back(i);
  }
  progress_->show(state_, record.closed);
  if (live_) live_->on_round(record, losses, label);
}

}  // namespace paceline::app
