// The compute slots of one machine: a few threads that do the most urgent piece of work first.
//
// Many workers share few cores. A thread per worker that queues for one of the slots would spend
// its life waiting; here only the slots are threads, and waiting work is an entry in a queue
// ordered by the time it is wanted. So what is wanted first is computed first, taking work back
// costs nothing, and no thread wakes without something to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "paceline/gradient_source.hpp"
#include "runtime/clock.hpp"

namespace paceline {

/// What one thread computes with: a gradient source per model, its own.
struct ComputeSlot {
  std::vector<std::unique_ptr<GradientSource>> sources;
};

/// A piece of work that a slot does. Owned by whoever submits it; it must live until it has run,
/// was withdrawn, or the pool is closed.
class Work {
 public:
  virtual ~Work() = default;
  /// Called by one thread of the pool, without a lock of the pool held. Must not throw.
  virtual void run(ComputeSlot& slot) = 0;

 protected:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  friend class ComputePool;
  SteadyTime wanted_;
  std::uint64_t number_ = 0;
};

class ComputePool {
 public:
  /// Starts the threads. Throws std::system_error where the machine refuses one.
  ///
  /// @param slots    >= 1
  /// @param sources  one per model; cloned for each slot
  ComputePool(int slots, const std::vector<std::unique_ptr<GradientSource>>& sources);

  ~ComputePool() { close(); }

  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  /// Between its begin and its end idle threads are not woken for every piece of work that is
  /// submitted, but once: for whoever submits many small pieces at once.
  class Burst {
   public:
    Burst() = default;
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

    ~Burst() { end(); }

    void begin(ComputePool& pool) {
      if (pool_ == nullptr) pool.set_burst(true);
      pool_ = &pool;
    }

    void end() {
      if (pool_ != nullptr) pool_->set_burst(false);
      pool_ = nullptr;
    }

   private:
    ComputePool* pool_ = nullptr;
  };

  /// Queues the work; the earliest `wanted` runs first, equal ones in the order of their calls.
  /// kNoDeadline: when nothing else waits. Ignored once the pool is closed.
  void submit(Work& work, SteadyTime wanted);

  /// Takes the work back. @return false if it is not in the queue: a thread has begun it
  bool withdraw(Work& work);

  /// Ends and joins all threads; work that has not begun is never run. Calling it twice is fine.
  void close();

 private:
  struct Sooner {
    bool operator()(const Work* a, const Work* b) const {
      return a->wanted_ != b->wanted_ ? a->wanted_ < b->wanted_ : a->number_ < b->number_;
    }
  };

  void set_burst(bool burst);
  void serve(ComputeSlot& slot);

  std::vector<ComputeSlot> slots_;
  std::mutex mutex_;
  std::condition_variable work_;  ///< idle threads wait here
  std::set<Work*, Sooner> queue_;
  std::uint64_t submitted_ = 0;
  int idle_ = 0;
  bool closed_ = false;
  bool burst_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace paceline
