// Straggler sets repeat when stragglers persist, so decode vectors are kept: a list in order of use
// beside a hash table into it; the least recently used set makes room. The key is the set alone,
// never the order in which its members answered. With many workers a few sets fill the memory that
// a cache may take, so it counts weights as well as sets.
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

constexpr std::size_t kMostTerms = std::size_t{1} << 22U;  // of all vectors together: 100 MB

using Decoder = std::function<std::optional<Combination>(const WorkerSet&)>;

class DecoderCache {
 public:
  DecoderCache(Decoder decode, std::size_t capacity)
      : decode_(std::move(decode)), capacity_(capacity) {}

  std::optional<Combination> operator()(const WorkerSet& answered) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = places_.find(answered); found != places_.end()) {
        entries_.splice(entries_.begin(), entries_, found->second);
        return entries_.front().second;
      }
    }
    // Without the lock: others may look up meanwhile. Two threads that miss the same set compute
    // the same bits.
    std::optional<Combination> combination = decode_(answered);
    const std::lock_guard lock(mutex_);
    if (!places_.contains(answered)) {
      entries_.emplace_front(answered, combination);
      places_.emplace(answered, entries_.begin());
      terms_ += terms_of(combination);
      while (entries_.size() > 1 && (entries_.size() > capacity_ || terms_ > kMostTerms)) {
        terms_ -= terms_of(entries_.back().second);
        places_.erase(entries_.back().first);
        entries_.pop_back();
      }
    }
    return combination;
  }

 private:
  static std::size_t terms_of(const std::optional<Combination>& combination) {
    return combination ? combination->terms.size() : 0;
  }

  using Entries = std::list<std::pair<WorkerSet, std::optional<Combination>>>;

  Decoder decode_;
  std::size_t capacity_;
  std::mutex mutex_;
  Entries entries_;        // the most recently used first
  std::size_t terms_ = 0;  // of all entries
  std::unordered_map<WorkerSet, Entries::iterator, WorkerSetHash> places_;
};

}  // namespace

Decoder cached_decoder(Decoder decode, std::size_t capacity) {
  PACELINE_CHECK(capacity >= 1);
  const auto cache = std::make_shared<DecoderCache>(std::move(decode), capacity);
  return [cache](const WorkerSet& answered) { return (*cache)(answered); };
}

}  // namespace paceline
