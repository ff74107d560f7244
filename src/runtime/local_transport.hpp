// The transport inside one process: workers are queues of orders, the compute pool does their work,
// and an answer is held back until its injected time.
//
// An order passes through these places; `stop` takes it out of any of them:
//
//   behind (an older order of its worker) -> queued (for a slot) -> computing -> held -> delivered
//
// Only a worker's first order is past "behind", so a worker that still owes an answer to an older
// round begins a new order when it has given that answer, as a machine would. Held answers sit in
// one queue ordered by time on which the master itself waits: a thousand workers that "sleep" cost
// one timer, and the noise of an answer's time is the wake-up of one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "paceline/delays.hpp"
#include "runtime/compute_pool.hpp"
#include "runtime/transport.hpp"
#include "runtime/worker.hpp"

namespace paceline {

class LocalTransport final : public Transport {
 public:
  /// @param delays  injected response times; nullptr: none
  /// Pool, sampler and delays must outlive the transport.
  LocalTransport(ComputePool& pool,
                 int workers,
                 MessageLayout layout,
                 const BatchSampler& sampler,
                 const DelaySource* delays);
  /// Closes the pool: its threads may be computing for this transport.
  ~LocalTransport() override;

  void send(Order order, std::vector<Parameters> parameters) override;
  void stop(WorkerId worker, Round round) override;
  Expected<bool> receive(SteadyTime deadline, Delivery& out) override;

  int outstanding() const override { return outstanding_; }

  /// False once every order is, or stands behind, one with an injected time of kNever.
  bool awaits_answer() override;

  void recycle(std::vector<float> buffer) override;

  /// Answers, given or stopped, that computing made later than injected by more than 5 %.
  int overruns() const { return overruns_; }

 private:
  enum class Place { kBehind, kQueued, kComputing, kHeld };

  struct Assignment final : Work {
    explicit Assignment(LocalTransport& owner) : transport(owner) {}

    void run(ComputeSlot& slot) override { transport.run(*this, slot); }

    LocalTransport& transport;
    Order order;
    std::vector<TaskInput> inputs;
    Place place = Place::kBehind;
    SteadyTime sent;
    SteadyTime begun;     ///< when its worker was free for it
    SteadyTime due;       ///< injected time of the answer; without injection `begun`
    SteadyTime ready;     ///< when it can be given: due, or later if computing took longer
    Seconds response{0};  ///< injected, from begun to due
    Seconds compute{0};   ///< what the answer reports: injected, without injection measured
    std::atomic<bool> stopped = false;
    std::vector<MadeMessage> messages;
  };

  struct Worker {
    std::deque<std::unique_ptr<Assignment>> orders;  ///< oldest first
    SteadyTime free_at;                              ///< when it was done with the one before
  };

  struct Earlier {
    bool operator()(const Assignment* a, const Assignment* b) const {
      return a->ready != b->ready ? a->ready < b->ready : a->order.worker < b->order.worker;
    }
  };

  struct ModelBatch {
    Version version{-1};
    Batch batch;
  };

  std::unique_ptr<Assignment> new_assignment(Order order, std::vector<Parameters> parameters);
  Batch batch_of(ModelId model, Version version);
  void begin_next(Worker& worker);
  void run(Assignment& assignment, ComputeSlot& slot);
  void compute(Assignment& assignment, ComputeSlot& slot);
  void fail(Error error);
  void hold(Assignment& assignment, SteadyTime now);
  void take_buffers(Assignment& assignment);
  void retire_front(Worker& worker, SteadyTime free_at);
  void reclaim();
  void deliver(Assignment& assignment, Delivery& out);
  void count_overrun(const Assignment& assignment, SteadyTime answered);

  ComputePool& pool_;
  MessageLayout layout_;
  const BatchSampler& sampler_;
  const DelaySource* delays_;

  // the master's own
  std::vector<ModelBatch> batches_;  ///< by model: its newest
  int outstanding_ = 0;
  int overruns_ = 0;

  // shared with the pool's threads
  std::mutex mutex_;
  std::condition_variable answer_;  ///< the master waits here
  SteadyTime wakes_at_;             ///< when it will look by itself; the least value if it is awake
  std::vector<Worker> workers_;
  std::set<Assignment*, Earlier> held_;
  std::optional<Error> failure_;                      ///< the first
  std::vector<std::unique_ptr<Assignment>> retired_;  ///< still holding what they read
  std::vector<std::unique_ptr<Assignment>> free_;
  std::vector<std::vector<float>> buffers_;
};

}  // namespace paceline
