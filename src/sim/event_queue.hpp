// The simulator's future: answers and timers in the order in which the coordinator hears of them.
//
// A binary heap of small values. Nothing is ever taken out of its middle: whoever cancels an answer
// lets its entry stand, and the entry is passed over when its turn comes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "paceline/ids.hpp"

namespace paceline {

/// Sorted by time; at equal times answers before timers, answers by worker, then as they were
/// pushed.
struct FutureEvent {
  static constexpr int kTimer = std::numeric_limits<int>::max();  ///< as `worker`

  Seconds at{0};
  int worker = 0;              ///< of an answer; kTimer for a timer, so that it sorts last
  int what = 0;                ///< an answer's place in the pool of orders; a timer's number
  std::uint64_t sequence = 0;  ///< counts pushes; names this event for good

  bool operator<(const FutureEvent& other) const {
    if (at != other.at) return at < other.at;
    if (worker != other.worker) return worker < other.worker;
    return sequence < other.sequence;
  }
};

class EventQueue {
 public:
  /// @return the event's sequence number
  std::uint64_t push(Seconds at, int worker, int what);

  bool empty() const { return heap_.empty(); }

  /// @pre !empty()
  FutureEvent pop();

 private:
  std::vector<FutureEvent> heap_;  ///< the next event in front
  std::uint64_t pushed_ = 0;
};

}  // namespace paceline
