// Batches without communication: model m reads the concatenation of its epochs' permutations of
// the data set, and update v takes positions v*b ... (v+1)*b - 1 of it. A permutation follows from
// (seed, model, epoch) alone, so every worker computes the same batch; it is kept while it is in
// use, so that a call costs O(b) and not O(samples).

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/random.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20U;  // MNIST: 279 models at once

using Permutation = std::shared_ptr<const std::vector<int>>;

class PermutationSampler final : public BatchSampler {
 public:
  PermutationSampler(int samples, int batch_size, std::uint64_t seed)
      : samples_(samples),
        batch_size_(batch_size),
        seed_(seed),
        capacity_(std::max<std::size_t>(
            4, kCacheBytes / (sizeof(int) * static_cast<std::size_t>(samples)))) {}

  int batch_size() const override { return batch_size_; }

  void batch(ModelId model, Version update, std::span<int> batch) const override {
    PACELINE_CHECK(batch.size() == static_cast<std::size_t>(batch_size_));
    PACELINE_CHECK(model.value >= 0 && update.value >= 0);
    std::int64_t position = std::int64_t{update.value} * batch_size_;
    for (std::size_t filled = 0; filled < batch.size();) {
      const Permutation order = permutation(model, position / samples_);
      const auto from = static_cast<std::size_t>(position % samples_);
      const std::size_t count = std::min(batch.size() - filled, order->size() - from);
      std::copy_n(order->begin() + static_cast<std::ptrdiff_t>(from),
                  count,
                  batch.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += count;
      position += static_cast<std::int64_t>(count);
    }
  }

 private:
  struct Entry {
    ModelId model;
    std::int64_t epoch;
    Permutation order;
  };

  // Least recently used last. A permutation is made under the lock: whoever needs the same one at
  // the same moment then finds it made.
  Permutation permutation(ModelId model, std::int64_t epoch) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(cache_.begin(), cache_.end(), [&](const Entry& entry) {
      return entry.model == model && entry.epoch == epoch;
    });
    if (found != cache_.end()) {
      cache_.splice(cache_.begin(), cache_, found);
      return found->order;
    }
    // An epoch has at least one update, so its number fits 32 bits as the update's does.
    const auto index =
        static_cast<std::uint64_t>(model.value) << 32U | static_cast<std::uint64_t>(epoch);
    RandomStream stream(seed_, "batches", index);
    cache_.push_front(
        {model, epoch, std::make_shared<const std::vector<int>>(stream.permutation(samples_))});
    if (cache_.size() > capacity_) cache_.pop_back();
    return cache_.front().order;
  }

  int samples_;
  int batch_size_;
  std::uint64_t seed_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  mutable std::list<Entry> cache_;
};

}  // namespace

std::unique_ptr<BatchSampler> make_permutation_sampler(int samples,
                                                       int batch_size,
                                                       std::uint64_t seed) {
  PACELINE_CHECK(batch_size >= 1 && batch_size <= samples);
  return std::make_unique<PermutationSampler>(samples, batch_size, seed);
}

}  // namespace paceline
