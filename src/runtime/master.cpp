#include "runtime/master.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  const RunState* const resume = options_.checkpoints.resume;
  auto done = resume != nullptr ? go_on(*resume) : begin();
  while (done && !finished_) {
    done = look_around();
    if (done) done = wait_for_event();
  }
  take_checkpoint();
  if (!done) return Unexpected(done.error());
  LocalRunResult result;
  result.total = totals_.total;
  result.rounds = totals_.rounds;
  result.jobs = totals_.jobs;
  result.wait_outs = totals_.wait_outs;
  result.messages = totals_.messages;
  if (totals_.rounds > 0) {
    result.mean_stragglers = static_cast<double>(totals_.stragglers) / totals_.rounds;
    result.bytes_per_round = totals_.bytes / totals_.rounds;
  }
  return result;
}

Expected<void> Master::begin() {
  const Seconds now = clock_.now();
  for (int m = 0; m < bank_.models(); ++m) begun_.push_back(bank_.version(ModelId{m}));
  if (options_.checkpoints.take) events_.push_back({LoggedEvent::Kind::kStart, now});
  whole_ = false;
  auto done = carry_out(timed("plan", [&] { return coordinator_.start(now); }));
  whole_ = done.has_value();
  return done;
}

/// Between two events: takes a checkpoint if one is due. @return an error if the run shall end here
Expected<void> Master::look_around() {
  const RunCheckpoints& checkpoints = options_.checkpoints;
  const bool closed = std::exchange(round_closed_, false);
  if (options_.interrupted && options_.interrupted()) return Unexpected(interruption());
  if (checkpoints.leaving != nullptr && *checkpoints.leaving) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (leave_by_ == kNoDeadline) leave_by_ = after(now, kLeaveLimit);
    if (closed || now >= leave_by_) return Unexpected(interruption());
  }
  if (closed && checkpoints.due && checkpoints.due(totals_.jobs)) take_checkpoint();
  return {};
}

/// Nothing if an event was carried out by halves: then there is no state to go on from.
void Master::take_checkpoint() {
  if (!options_.checkpoints.take || !whole_) return;
  const Seconds now = clock_.now();
  auto bank =
      options_.remote != nullptr ? options_.remote->state() : Expected<BankState>(bank_.state());
  if (!bank) return;  // whatever holds the payloads is lost, and with it the run
  options_.checkpoints.take({now, begun_, events_, studied_, totals_, *std::move(bank), finished_});
}

/// An event for the coordinator, and what it asks for.
Expected<void> Master::tell(const Event& event, Seconds now) {
  if (options_.checkpoints.take) {
    LoggedEvent logged{.now = now, .studied = std::exchange(studied_, 0)};
    if (const auto* arrived = std::get_if<Arrived>(&event)) {
      logged.kind = LoggedEvent::Kind::kArrived;
      logged.result = arrived->result;
    } else {
      logged.kind = LoggedEvent::Kind::kTimer;
      logged.timer = std::get<TimerFired>(event).timer;
    }
    events_.push_back(logged);
  }
  whole_ = false;
  auto done = carry_out(timed("plan", [&] { return coordinator_.on(event, now); }));
  whole_ = done.has_value();
  return done;
}

/// Handles the next answer or timer; returns without one in time to look at the interruption.
Expected<void> Master::wait_for_event() {
  SteadyTime deadline = timers_.empty() ? kNoDeadline : clock_.at(timers_.top().at);
  if (options_.interrupted || options_.checkpoints.leaving != nullptr) {
    deadline = std::min(deadline, std::chrono::steady_clock::now() + kInterruptionCheck);
  }
  const auto look = [&] {
    return transport_.receive(std::min(deadline, std::chrono::steady_clock::now()), delivery_);
  };
  auto received = look();
  // Asked only when nothing is here, since it may take a look at every worker.
  if (received && !*received && timers_.empty() && !transport_.awaits_answer()) {
    return failed(stalled());
  }
  while (received && !*received && std::chrono::steady_clock::now() < deadline && study()) {
    received = look();
  }
  if (received && !*received) received = transport_.receive(deadline, delivery_);
  if (!received) return Unexpected(received.error());
  if (*received) return on_delivery();
  if (timers_.empty() || clock_.at(timers_.top().at) > std::chrono::steady_clock::now()) return {};
  const Timer timer = timers_.top();
  timers_.pop();
  // The clock may round down below the time the timer was set to.
  return tell(TimerFired{timer.timer}, std::max(clock_.now(), timer.at));
}

bool Master::study() {
  ++studied_;
  return coordinator_.study();
}

std::string Master::stalled() const {
  const std::string losses = transport_.losses();
  return fmt::format(
      "stalled after {} rounds and {} decoded jobs: {}{}",
      totals_.rounds,
      totals_.jobs,
      transport_.outstanding() == 0
          ? std::string("no order is outstanding and no timer is armed")
          : fmt::format("{} outstanding orders will never be answered", transport_.outstanding()),
      losses.empty() ? losses : ": " + losses);
}

Expected<void> Master::on_delivery() {
  const Seconds now = clock_.now();
  for (Delivery::Message& message : delivery_.messages) {
    MadeMessage& made = message.made;
    ++totals_.messages;
    totals_.bytes += static_cast<double>(made.values.size() * options_.bytes_per_number);
    bank_.store(message.id, std::move(made.values), made.loss, made.samples);
  }
  return tell(Arrived{delivery_.result}, now);
}

Expected<void> Master::carry_out(Actions actions) {
  if (actions.empty()) {
    transport_.flush();
  } else if (auto out = timed("send", [&] { return send_out(std::move(actions)); }); !out) {
    return out;
  }
  while (!deferred_.empty()) {
    if (auto settled = settle_first(); !settled) return settled;
  }
  return {};
}

/// What workers shall do goes out; the rest is deferred.
Expected<void> Master::send_out(Actions actions) {
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
  auto applied = timed("decode", [&] { return bank_.apply(apply); });
  if (!applied) return Unexpected(applied.error());
  if (options_.remote != nullptr) options_.remote->apply(apply);
  if (!applied->stepped) return {};
  totals_.total = clock_.now();
  ++totals_.jobs;
  decoded_.push_back({apply.job, apply.model, applied->loss, apply.sum.residual, applied->skipped});
  if (verifier_ == nullptr) return {};
  return verifier_->submit(
      apply.job, apply.model, read, std::move(parameters), std::move(applied->gradient));
}

void Master::drop(const Drop& drop) {
  bank_.drop(drop.messages);
  if (options_.remote != nullptr) options_.remote->drop(drop.messages);
  for (auto buffer = bank_.recycle(); !buffer.empty(); buffer = bank_.recycle()) {
    transport_.recycle(std::move(buffer));
  }
}

void Master::report(const RoundRecord& record) {
  if (record.busy > 0) ++totals_.rounds;
  totals_.stragglers += record.stragglers.size();
  totals_.wait_outs += record.waited_out ? 1 : 0;
  if (options_.observer) options_.observer({&record, decoded_});
  decoded_.clear();
  round_closed_ = true;
}

}  // namespace paceline
