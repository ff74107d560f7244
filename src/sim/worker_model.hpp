// Simulated workers: which orders each one has, when it answers them, and what a stop does.
//
// A stateless worker starts every order at once. A persistent worker has a queue: it does one order
// at a time, in the order they came, and whatever shortens the queue moves the rest forward. Orders
// live in a pool of slots that is reused, so a steady simulation allocates nothing here.
#pragma once

#include <optional>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"
#include "paceline/simulator.hpp"
#include "sim/event_queue.hpp"

namespace paceline {

class WorkerModel {
 public:
  WorkerModel(const DelaySource& delays, WorkerKind kind, Seconds stop_latency)
      : delays_(delays),
        persistent_(kind == WorkerKind::kPersistent),
        stop_latency_(stop_latency),
        workers_(static_cast<std::size_t>(delays.workers())) {}

  /// Gives a worker an order. @pre the worker exists
  void send(Order order, Seconds now, EventQueue& queue);

  /// Takes back all orders of that round that the worker has not answered. A persistent worker that
  /// computes one of them is free `stop_latency` later, or when it would have been done if that is
  /// sooner.
  void stop(WorkerId worker, Round round, Seconds now, EventQueue& queue);

  struct Answer {
    const Order& order;  ///< valid until the next send()
    Seconds compute;
    Seconds waited;
  };

  /// The order an event answers; nothing if it was stopped or moved since the event was pushed.
  std::optional<Answer> answer(const FutureEvent& event);

  /// Orders that are neither answered nor stopped.
  int outstanding() const { return outstanding_; }

 private:
  struct Slot {
    Order order;
    Seconds sent{0};
    Seconds start{0};
    Seconds takes{0};
    Seconds compute{0};
    std::uint64_t event = 0;  ///< that will answer it; 0: none (free slot, or it never answers)
  };

  struct Worker {
    std::vector<int> slots;  ///< its orders, oldest first
    Seconds free_from{0};  ///< persistent: not before, whatever the slots say (a stop in progress)
  };

  int take_slot();
  void release(int slot);
  void schedule(int slot, Seconds start, EventQueue& queue);
  void move_forward(Worker& worker, Seconds now, EventQueue& queue);

  const DelaySource& delays_;
  bool persistent_;
  Seconds stop_latency_;
  std::vector<Worker> workers_;
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  int outstanding_ = 0;
};

}  // namespace paceline
