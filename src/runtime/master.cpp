#include "runtime/master.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paceline/check.hpp"
#include "runtime/interruption.hpp"

namespace paceline {

Master::Master(Coordinator& coordinator,
               ModelBank& bank,
               Transport& transport,
               Verifier* verifier,
               MasterOptions options)
    : coordinator_(coordinator),
      bank_(bank),
      transport_(transport),
      verifier_(verifier),
      options_(std::move(options)) {}

Expected<LocalRunResult> Master::run() {
  auto done = carry_out(coordinator_.start(clock_.now()));
  while (done && !finished_) {
    if (options_.interrupted && options_.interrupted()) return Unexpected(interruption());
    done = wait_for_event();
  }
  if (!done) return Unexpected(done.error());
  if (result_.rounds > 0) {
    result_.mean_stragglers = static_cast<double>(stragglers_) / result_.rounds;
    result_.bytes_per_round = bytes_ / result_.rounds;
  }
  return result_;
}

/// Handles the next answer or timer; returns without one in time to look at the interruption.
Expected<void> Master::wait_for_event() {
  if (timers_.empty() && !transport_.awaits_answer()) return failed(stalled());
  SteadyTime deadline = timers_.empty() ? kNoDeadline : clock_.at(timers_.top().at);
  if (options_.interrupted) {
    deadline = std::min(deadline, std::chrono::steady_clock::now() + kInterruptionCheck);
  }
  const auto look = [&] {
    return transport_.receive(std::min(deadline, std::chrono::steady_clock::now()), delivery_);
  };
  auto received = look();
  while (received && !*received && std::chrono::steady_clock::now() < deadline &&
         coordinator_.study()) {
    received = look();
  }
  if (received && !*received) received = transport_.receive(deadline, delivery_);
  if (!received) return Unexpected(received.error());
  if (*received) return on_delivery();
  if (timers_.empty() || clock_.at(timers_.top().at) > std::chrono::steady_clock::now()) return {};
  const Timer timer = timers_.top();
  timers_.pop();
  // The clock may round down below the time the timer was set to.
  return carry_out(coordinator_.on(TimerFired{timer.timer}, std::max(clock_.now(), timer.at)));
}

std::string Master::stalled() const {
  const std::string losses = transport_.losses();
  return fmt::format(
      "stalled after {} rounds and {} decoded jobs: {}{}",
      result_.rounds,
      result_.jobs,
      transport_.outstanding() == 0
          ? std::string("no order is outstanding and no timer is armed")
          : fmt::format("{} outstanding orders will never be answered", transport_.outstanding()),
      losses.empty() ? losses : ": " + losses);
}

Expected<void> Master::on_delivery() {
  const Seconds now = clock_.now();
  for (Delivery::Message& message : delivery_.messages) {
    MadeMessage& made = message.made;
    ++result_.messages;
    bytes_ += static_cast<double>(made.values.size() * sizeof(float));
    bank_.store(message.id, std::move(made.values), made.loss, made.samples);
  }
  return carry_out(coordinator_.on(Arrived{delivery_.result}, now));
}

Expected<void> Master::carry_out(Actions actions) {
  for (Action& action : actions) {
    if (auto* send_action = std::get_if<Send>(&action)) {
      if (auto sent = send(std::move(send_action->order)); !sent) return sent;
    } else if (const auto* stop = std::get_if<Stop>(&action)) {
      transport_.stop(stop->worker, stop->round);
    } else if (const auto* arm = std::get_if<Arm>(&action)) {
      timers_.push({arm->at, arm->timer});
    } else {
      deferred_.push_back(std::move(action));
    }
  }
  transport_.flush();
  while (!deferred_.empty()) {
    if (auto settled = settle_first(); !settled) return settled;
  }
  return {};
}

Expected<void> Master::send(Order order) {
  std::vector<Parameters> parameters;
  parameters.reserve(order.tasks.size());
  for (const Task& task : order.tasks) {
    if (task.row.terms().empty()) {
      parameters.push_back(nullptr);
      continue;
    }
    while (bank_.version(task.model) < task.reads) {
      PACELINE_CHECK(!deferred_.empty());
      transport_.flush();
      if (auto settled = settle_first(); !settled) return settled;
    }
    PACELINE_CHECK(bank_.version(task.model) == task.reads);
    parameters.push_back(bank_.parameters(task.model));
  }
  transport_.send(std::move(order), std::move(parameters));
  return {};
}

Expected<void> Master::settle_first() {
  const Action action = std::move(deferred_.front());
  deferred_.pop_front();
  if (const auto* apply_action = std::get_if<Apply>(&action)) return apply(*apply_action);
  if (const auto* drop_action = std::get_if<Drop>(&action)) {
    drop(*drop_action);
  } else if (const auto* record = std::get_if<RoundRecord>(&action)) {
    report(*record);
  } else if (const auto& why = std::get<Finish>(action).why; !why.empty()) {
    return failed(why);
  } else {
    finished_ = true;
  }
  return {};
}

Expected<void> Master::apply(const Apply& apply) {
  const Version read = bank_.version(apply.model);
  Parameters parameters = verifier_ != nullptr ? bank_.parameters(apply.model) : nullptr;
  auto applied = bank_.apply(apply);
  if (!applied) return Unexpected(applied.error());
  if (!applied->stepped) return {};
  result_.total = clock_.now();
  ++result_.jobs;
  decoded_.push_back({apply.job, apply.model, applied->loss, apply.sum.residual, applied->skipped});
  if (verifier_ == nullptr) return {};
  return verifier_->submit(
      apply.job, apply.model, read, std::move(parameters), std::move(applied->gradient));
}

void Master::drop(const Drop& drop) {
  bank_.drop(drop.messages);
  for (auto buffer = bank_.recycle(); !buffer.empty(); buffer = bank_.recycle()) {
    transport_.recycle(std::move(buffer));
  }
}

void Master::report(const RoundRecord& record) {
  if (record.busy > 0) ++result_.rounds;
  stragglers_ += record.stragglers.size();
  result_.wait_outs += record.waited_out ? 1 : 0;
  if (options_.observer) options_.observer({&record, decoded_});
  decoded_.clear();
}

}  // namespace paceline
