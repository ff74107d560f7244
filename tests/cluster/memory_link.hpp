// A link between threads of one process, with the faults of a cluster: frames are dropped, damaged,
// cut short or repeated on their way, ranks freeze and wake up.
#pragma once

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

  explicit MemoryHub(int ranks) : queues_(static_cast<std::size_t>(ranks)) {}

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
    for (int i = 0; i < copies; ++i) queue(to).emplace_back(from, frame);
  }

  bool receive(int rank, int& from, Bytes& frame) {
    const std::lock_guard lock(mutex_);
    if (frozen_.contains(rank)) return false;
    auto& waiting = queue(rank);
    for (auto entry = waiting.begin(); entry != waiting.end(); ++entry) {
      if (frozen_.contains(entry->first)) continue;
      from = entry->first;
      frame = std::move(entry->second);
      waiting.erase(entry);
      return true;
    }
    return false;
  }

 private:
  using Queue = std::deque<std::pair<int, Bytes>>;

  Queue& queue(int rank) { return queues_[static_cast<std::size_t>(rank)]; }

  std::mutex mutex_;
  std::vector<Queue> queues_;  ///< by receiver
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
