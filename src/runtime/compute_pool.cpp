#include "runtime/compute_pool.hpp"

#include "paceline/check.hpp"

namespace paceline {

ComputePool::ComputePool(int slots, const std::vector<std::unique_ptr<GradientSource>>& sources) {
  PACELINE_CHECK(slots >= 1);
  slots_.resize(static_cast<std::size_t>(slots));
  for (ComputeSlot& slot : slots_) {
    for (const auto& source : sources) slot.sources.push_back(source->clone());
  }
  threads_.reserve(slots_.size());
  try {
    for (ComputeSlot& slot : slots_) threads_.emplace_back([this, &slot] { serve(slot); });
  } catch (...) {
    close();
    throw;
  }
}

void ComputePool::submit(Work& work, SteadyTime wanted) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  work.wanted_ = wanted;
  work.number_ = submitted_++;
  queue_.insert(&work);
  if (idle_ > 0 && !burst_) work_.notify_one();
}

void ComputePool::set_burst(bool burst) {
  const std::lock_guard lock(mutex_);
  burst_ = burst;
  if (!burst && !queue_.empty()) work_.notify_all();
}

bool ComputePool::withdraw(Work& work) {
  const std::lock_guard lock(mutex_);
  return queue_.erase(&work) > 0;
}

void ComputePool::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queue_.clear();
  }
  work_.notify_all();
  threads_.clear();
}

void ComputePool::serve(ComputeSlot& slot) {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (queue_.empty()) {
      ++idle_;
      work_.wait(lock);
      --idle_;
      continue;
    }
    Work& work = **queue_.begin();
    queue_.erase(queue_.begin());
    lock.unlock();
    work.run(slot);
    lock.lock();
  }
}

}  // namespace paceline
