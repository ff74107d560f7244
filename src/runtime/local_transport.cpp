#include "runtime/local_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

constexpr double kOverrun = 1.05;

bool computes(const Order& order) {
  return std::any_of(order.tasks.begin(), order.tasks.end(), [](const Task& task) {
    return !task.row.terms().empty();
  });
}

}  // namespace

LocalTransport::LocalTransport(ComputePool& pool,
                               int workers,
                               MessageLayout layout,
                               const BatchSampler& sampler,
                               const DelaySource* delays)
    : pool_(pool),
      layout_(std::move(layout)),
      sampler_(sampler),
      delays_(delays),
      wakes_at_(SteadyTime::min()),
      workers_(static_cast<std::size_t>(workers)) {}

LocalTransport::~LocalTransport() {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      for (auto& assignment : worker.orders) assignment->stopped = true;
    }
  }
  pool_.close();
}

void LocalTransport::send(Order order, std::vector<Parameters> parameters) {
  PACELINE_CHECK(order.worker.index() < workers_.size());
  PACELINE_CHECK(parameters.size() == order.tasks.size());
  std::unique_ptr<Assignment> assignment = new_assignment(std::move(order), std::move(parameters));
  ++outstanding_;
  const std::lock_guard lock(mutex_);
  Worker& worker = workers_[assignment->order.worker.index()];
  worker.orders.push_back(std::move(assignment));
  if (worker.orders.size() == 1) begin_next(worker);
}

std::unique_ptr<LocalTransport::Assignment> LocalTransport::new_assignment(
    Order order, std::vector<Parameters> parameters) {
  std::unique_ptr<Assignment> assignment;
  {
    const std::lock_guard lock(mutex_);
    reclaim();
    if (!free_.empty()) {
      assignment = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!assignment) assignment = std::make_unique<Assignment>(*this);
  for (std::size_t k = 0; k < order.tasks.size(); ++k) {
    const Task& task = order.tasks[k];
    if (task.row.terms().empty()) {
      assignment->inputs.emplace_back();
    } else {
      PACELINE_CHECK(parameters[k] != nullptr);
      assignment->inputs.push_back({std::move(parameters[k]), batch_of(task.model, task.reads)});
    }
  }
  assignment->place = Place::kBehind;
  assignment->stopped = false;
  assignment->response = assignment->compute = Seconds{0};
  if (delays_ != nullptr) {
    const Delay delay = delays_->delay(order.drawn(), order.worker);
    assignment->compute = delay.per_load * order.load();
    assignment->response = order.ahead ? assignment->compute : delay.at(order.load());
  }
  assignment->sent = after(std::chrono::steady_clock::now(), -order.age);
  assignment->order = std::move(order);
  return assignment;
}

/// The samples of the job that reads this version. All workers of a job share one copy: recomputing
/// it would be free on many machines, but not on one.
Batch LocalTransport::batch_of(ModelId model, Version version) {
  if (model.index() >= batches_.size()) batches_.resize(model.index() + 1);
  ModelBatch& known = batches_[model.index()];
  if (known.version != version) {
    auto batch =
        std::make_shared<std::vector<int>>(static_cast<std::size_t>(sampler_.batch_size()));
    sampler_.batch(model, version, *batch);
    known = {version, std::move(batch)};
  }
  return known.batch;
}

/// The worker turns to its oldest order, if it has one.
void LocalTransport::begin_next(Worker& worker) {
  if (worker.orders.empty()) return;
  Assignment& next = *worker.orders.front();
  next.begun = std::max(after(next.sent, next.order.waited), worker.free_at);
  next.due = after(next.begun, next.response);
  if (next.response == kNever) {
    next.place = Place::kHeld;  // until it is stopped; not worth computing
    next.ready = kNoDeadline;
  } else if (computes(next.order)) {
    next.place = Place::kQueued;
    pool_.submit(next, next.due);
  } else {
    hold(next, next.begun);
  }
}

void LocalTransport::run(Assignment& assignment, ComputeSlot& slot) {
  try {
    compute(assignment, slot);
  } catch (...) {
    fail({ErrorCode::kFailed,
          fmt::format("worker {}: {}", assignment.order.worker.value, describe_exception())});
  }
}

void LocalTransport::compute(Assignment& assignment, ComputeSlot& slot) {
  {
    const std::lock_guard lock(mutex_);
    assignment.place = Place::kComputing;
    if (!assignment.stopped) take_buffers(assignment);
  }
  const SteadyTime begin = std::chrono::steady_clock::now();
  const auto stopped = [&assignment] { return assignment.stopped.load(); };
  if (!stopped()) {
    const auto done = compute_order(
        assignment.order, assignment.inputs, layout_, slot, stopped, assignment.messages);
    if (!done) return fail(done.error());
  }
  const SteadyTime end = std::chrono::steady_clock::now();

  const std::lock_guard lock(mutex_);
  if (delays_ == nullptr) assignment.compute = end - begin;
  if (assignment.stopped) {
    Worker& worker = workers_[assignment.order.worker.index()];
    retire_front(worker, worker.free_at);
  } else {
    hold(assignment, end);
  }
}

void LocalTransport::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  answer_.notify_one();
}

void LocalTransport::take_buffers(Assignment& assignment) {
  assignment.messages.resize(assignment.order.tasks.size());
  for (std::size_t k = 0; k < assignment.messages.size() && !buffers_.empty(); ++k) {
    if (assignment.order.tasks[k].row.terms().empty()) continue;
    assignment.messages[k].values = std::move(buffers_.back());
    buffers_.pop_back();
  }
}

/// The answer is known at `now`; it waits for its time, and the master is woken if it would look
/// too late.
void LocalTransport::hold(Assignment& assignment, SteadyTime now) {
  assignment.place = Place::kHeld;
  assignment.ready = std::max(assignment.due, now);
  held_.insert(&assignment);
  if (assignment.ready < wakes_at_) answer_.notify_one();
}

Expected<bool> LocalTransport::receive(SteadyTime deadline, Delivery& out) {
  std::unique_lock lock(mutex_);
  reclaim();
  for (;;) {
    if (failure_) return Unexpected(*failure_);
    const SteadyTime now = std::chrono::steady_clock::now();
    Assignment* const first = held_.empty() ? nullptr : *held_.begin();
    if (first != nullptr && first->ready <= std::min(now, deadline)) {
      deliver(*first, out);
      return true;
    }
    if (now >= deadline) return false;
    wakes_at_ = first == nullptr ? deadline : std::min(deadline, first->ready);
    answer_.wait_until(lock, wakes_at_);
    wakes_at_ = SteadyTime::min();
  }
}

void LocalTransport::deliver(Assignment& assignment, Delivery& out) {
  held_.erase(&assignment);
  --outstanding_;
  count_overrun(assignment, assignment.ready);
  const Order& order = assignment.order;
  const Seconds waited = order.ahead ? Seconds{0} : assignment.begun - assignment.sent;
  out.result = {order.worker, order.round, order.dispatch, assignment.compute, waited};
  out.messages.clear();
  for (std::size_t k = 0; k < order.tasks.size(); ++k) {
    if (order.tasks[k].row.terms().empty()) continue;
    out.messages.push_back({order.tasks[k].id, std::move(assignment.messages[k])});
  }
  retire_front(workers_[order.worker.index()], assignment.ready);
  reclaim();
}

void LocalTransport::stop(WorkerId id, Round round) {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = std::chrono::steady_clock::now();
  Worker& worker = workers_.at(id.index());
  // From the newest: taking the first order away begins the one behind it.
  for (std::size_t i = worker.orders.size(); i-- > 0;) {
    Assignment& assignment = *worker.orders[i];
    if (assignment.order.round != round || assignment.stopped) continue;
    --outstanding_;
    if (assignment.place == Place::kBehind) {
      retired_.push_back(std::move(worker.orders[i]));
      worker.orders.erase(worker.orders.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const bool held = assignment.place == Place::kHeld;
    count_overrun(assignment, held ? assignment.ready : now);
    if (held) held_.erase(&assignment);
    if (held || (assignment.place == Place::kQueued && pool_.withdraw(assignment))) {
      retire_front(worker, now);
    } else {
      assignment.stopped = true;  // its thread retires it
      worker.free_at = now;
    }
  }
  reclaim();
}

void LocalTransport::retire_front(Worker& worker, SteadyTime free_at) {
  worker.free_at = free_at;
  retired_.push_back(std::move(worker.orders.front()));
  worker.orders.pop_front();
  begin_next(worker);
}

/// Lets go of what retired orders read. Only the master does this: the model bank changes
/// parameters in place once nobody else holds them, so the last holder must not be another thread.
void LocalTransport::reclaim() {
  for (auto& assignment : retired_) {
    assignment->order.tasks.clear();
    assignment->inputs.clear();
    for (MadeMessage& message : assignment->messages) {
      if (!message.values.empty()) buffers_.push_back(std::move(message.values));
      message.values.clear();
    }
    free_.push_back(std::move(assignment));
  }
  retired_.clear();
}

bool LocalTransport::awaits_answer() {
  const std::lock_guard lock(mutex_);
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) {
    const auto first = std::find_if(worker.orders.begin(),
                                    worker.orders.end(),
                                    [](const auto& order) { return !order->stopped; });
    return first != worker.orders.end() && (*first)->response < kNever;
  });
}

void LocalTransport::recycle(std::vector<float> buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.push_back(std::move(buffer));
}

void LocalTransport::count_overrun(const Assignment& assignment, SteadyTime answered) {
  if (delays_ == nullptr) return;
  if (answered - assignment.begun > kOverrun * assignment.response) ++overruns_;
}

}  // namespace paceline
