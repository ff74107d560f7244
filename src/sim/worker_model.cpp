#include "sim/worker_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {

int WorkerModel::take_slot() {
  ++outstanding_;
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<int>(slots_.size()) - 1;
  }
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void WorkerModel::release(int slot) {
  --outstanding_;
  slots_[static_cast<std::size_t>(slot)].event = 0;
  free_slots_.push_back(slot);
}

void WorkerModel::schedule(int slot, Seconds start, EventQueue& queue) {
  Slot& pending = slots_[static_cast<std::size_t>(slot)];
  pending.start = start;
  pending.event = 0;
  const Seconds at = start + pending.takes;
  if (at < kNever) pending.event = queue.push(at, pending.order.worker.value, slot);
}

void WorkerModel::send(Order order, Seconds now, EventQueue& queue) {
  const double load = order.load();
  const Delay delay = delays_.delay(order.drawn(), order.worker);
  Worker& worker = workers_[order.worker.index()];
  Seconds start = now;
  if (persistent_) {
    start = std::max(start, worker.free_from);
    if (!worker.slots.empty()) {
      const Slot& last = slots_[static_cast<std::size_t>(worker.slots.back())];
      start = std::max(start, last.start + last.takes);
    }
  }
  const std::optional<double> ahead = order.ahead;
  const int slot = take_slot();
  Slot& pending = slots_[static_cast<std::size_t>(slot)];
  pending.order = std::move(order);
  pending.sent = now;
  pending.compute = delay.per_load * load;
  pending.takes = delay.at(load);
  // A stateless worker has not queued it behind the order that it goes on from.
  if (ahead) pending.takes = persistent_ ? pending.compute : delay.at(*ahead + load);
  PACELINE_CHECK(pending.takes >= Seconds{0});
  schedule(slot, start, queue);
  worker.slots.push_back(slot);
}

void WorkerModel::stop(WorkerId id, Round round, Seconds now, EventQueue& queue) {
  Worker& worker = workers_[id.index()];
  const auto stopped = [&](int slot) {
    const Slot& pending = slots_[static_cast<std::size_t>(slot)];
    if (pending.order.round != round) return false;
    if (persistent_ && pending.start < now) {
      worker.free_from = std::min(now + stop_latency_, pending.start + pending.takes);
    }
    release(slot);
    return true;
  };
  if (std::erase_if(worker.slots, stopped) > 0 && persistent_) move_forward(worker, now, queue);
}

void WorkerModel::move_forward(Worker& worker, Seconds now, EventQueue& queue) {
  Seconds free = std::max(now, worker.free_from);
  for (const int slot : worker.slots) {
    const Slot& pending = slots_[static_cast<std::size_t>(slot)];
    if (pending.start > free) schedule(slot, free, queue);
    free = pending.start + pending.takes;
  }
}

std::optional<WorkerModel::Answer> WorkerModel::answer(const FutureEvent& event) {
  const Slot& pending = slots_[static_cast<std::size_t>(event.what)];
  if (pending.event != event.sequence) return std::nullopt;
  std::erase(workers_[static_cast<std::size_t>(event.worker)].slots, event.what);
  release(event.what);
  const Seconds waited = pending.order.ahead ? Seconds{0} : pending.start - pending.sent;
  return Answer{pending.order, pending.compute, waited};
}

}  // namespace paceline
