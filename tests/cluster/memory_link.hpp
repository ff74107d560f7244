// A link between threads of one process, with the faults of a cluster: frames are dropped, damaged,
// cut short or repeated on their way, ranks freeze and wake up, and what a rank can take in per
// second may be limited.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "paceline/link.hpp"

namespace paceline::test {

class MemoryHub {
 public:
  /// May change the frame. @return how many copies arrive
  using Fault = std::function<int(int from, int to, Bytes& frame)>;

  explicit MemoryHub(int ranks)
      : queues_(static_cast<std::size_t>(ranks)), busy_until_(static_cast<std::size_t>(ranks)) {}

  /// From now on every rank takes in so many bytes per second, one frame after the other.
  void limit_links(double bytes_per_second) {
    const std::lock_guard lock(mutex_);
    bytes_per_second_ = bytes_per_second;
  }

  void set_fault(Fault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
  }

  /// A frozen rank neither receives nor is heard; what was sent to and by it waits.
  void freeze(int rank) {
    const std::lock_guard lock(mutex_);
    frozen_.insert(rank);
  }

  void thaw(int rank) {
    const std::lock_guard lock(mutex_);
    frozen_.erase(rank);
  }

  /// Frames that wait for that rank.
  std::size_t waiting(int rank) {
    const std::lock_guard lock(mutex_);
    return queue(rank).size();
  }

  int ranks() const { return static_cast<int>(queues_.size()); }

  void send(int from, int to, Bytes frame) {
    const std::lock_guard lock(mutex_);
    const int copies = fault_ ? fault_(from, to, frame) : 1;
    for (int i = 0; i < copies; ++i) queue(to).push_back({from, frame, arrival(to, frame.size())});
  }

  bool receive(int rank, int& from, Bytes& frame) {
    const std::lock_guard lock(mutex_);
    if (frozen_.contains(rank)) return false;
    auto& waiting = queue(rank);
    for (auto entry = waiting.begin(); entry != waiting.end(); ++entry) {
      if (frozen_.contains(entry->from)) continue;
      if (entry->arrives > Clock::now()) return false;
      from = entry->from;
      frame = std::move(entry->frame);
      waiting.erase(entry);
      return true;
    }
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    int from = 0;
    Bytes frame;
    Clock::time_point arrives;
  };

  using Queue = std::deque<Entry>;

  /// When a frame that is sent now has come through the receiver's link.
  Clock::time_point arrival(int to, std::size_t bytes) {
    if (bytes_per_second_ == 0) return {};
    Clock::time_point& until = busy_until_[static_cast<std::size_t>(to)];
    const std::chrono::duration<double> takes(static_cast<double>(bytes) / bytes_per_second_);
    until = std::max(until, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
    return until;
  }

  Queue& queue(int rank) { return queues_[static_cast<std::size_t>(rank)]; }

  std::mutex mutex_;
  std::vector<Queue> queues_;                  ///< by receiver
  std::vector<Clock::time_point> busy_until_;  ///< by receiver: its link
  double bytes_per_second_ = 0;                ///< 0: no limit
  std::set<int> frozen_;
  Fault fault_;
};

class MemoryLink final : public Link {
 public:
  MemoryLink(MemoryHub& hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }

  int ranks() const override { return hub_.ranks(); }

  int serving_here() const override { return hub_.ranks() - 1; }

  void send(int to, std::shared_ptr<const Bytes> frame) override { hub_.send(rank_, to, *frame); }

  bool receive(int& from, Bytes& frame) override { return hub_.receive(rank_, from, frame); }

  int unsent() override { return 0; }

  bool moving() override { return false; }

  void leave(bool /*together*/) override {}

  [[noreturn]] void abort(int) override { throw std::runtime_error("aborted"); }

 private:
  MemoryHub& hub_;
  int rank_;
};

}  // namespace paceline::test
