#include "sim/event_queue.hpp"

#include <algorithm>

#include "paceline/check.hpp"

namespace paceline {
namespace {

struct Later {  // a type, not a function: the heap inlines it
  bool operator()(const FutureEvent& a, const FutureEvent& b) const { return b < a; }
};

}  // namespace

std::uint64_t EventQueue::push(Seconds at, int worker, int what) {
  heap_.push_back({at, worker, what, ++pushed_});
  std::push_heap(heap_.begin(), heap_.end(), Later());
  return pushed_;
}

FutureEvent EventQueue::pop() {
  PACELINE_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  const FutureEvent next = heap_.back();
  heap_.pop_back();
  return next;
}

}  // namespace paceline
