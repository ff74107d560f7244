// A set of workers as packed bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/ids.hpp"

namespace paceline {

/// A subset of the workers 0 ... workers()-1. Equal sets hash alike, whatever the order of
/// insertion.
class WorkerSet {
 public:
  explicit WorkerSet(int workers)
      : workers_(workers), words_((static_cast<std::size_t>(workers) + 63) / 64, 0) {}

  static WorkerSet all(int workers) {
    WorkerSet set(workers);
    for (std::uint64_t& word : set.words_) word = ~std::uint64_t{0};
    const unsigned used = static_cast<unsigned>(workers) % 64;
    if (used > 0) set.words_.back() = (std::uint64_t{1} << used) - 1;
    return set;
  }

  /// Size of the universe, n.
  int workers() const { return workers_; }

  int size() const {
    int count = 0;
    for (const std::uint64_t word : words_) count += std::popcount(word);
    return count;
  }

  bool contains(WorkerId worker) const { return (word(worker) >> bit(worker) & 1U) != 0; }

  void insert(WorkerId worker) { word(worker) |= std::uint64_t{1} << bit(worker); }

  void erase(WorkerId worker) { word(worker) &= ~(std::uint64_t{1} << bit(worker)); }

  void clear() { words_.assign(words_.size(), 0); }

  bool empty() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

  /// Adds the other set's workers. @pre of the next four: both are subsets of the same workers
  WorkerSet& operator|=(const WorkerSet& other) {
    PACELINE_DCHECK(other.workers_ == workers_);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

  /// Takes the other set's workers out.
  WorkerSet& operator-=(const WorkerSet& other) {
    PACELINE_DCHECK(other.workers_ == workers_);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }

  bool intersects(const WorkerSet& other) const {
    PACELINE_DCHECK(other.workers_ == workers_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }

  /// Size of the union.
  int size_with(const WorkerSet& other) const {
    PACELINE_DCHECK(other.workers_ == workers_);
    int count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      count += std::popcount(words_[i] | other.words_[i]);
    }
    return count;
  }

  /// visit(WorkerId) for every member, in ascending order; it may erase the member it is given.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        visit(WorkerId{static_cast<int>(i * 64) + std::countr_zero(rest)});
      }
    }
  }

  /// Packed bits: worker i is bit i mod 64 of word i div 64; bits past the last worker are 0.
  std::span<std::uint64_t> words() { return words_; }

  std::span<const std::uint64_t> words() const { return words_; }

  /// The workers that are not in this set.
  WorkerSet complement() const {
    WorkerSet rest = all(workers_);
    for (std::size_t i = 0; i < words_.size(); ++i) rest.words_[i] &= ~words_[i];
    return rest;
  }

  bool operator==(const WorkerSet&) const = default;

  std::size_t hash() const {
    std::uint64_t h = static_cast<std::uint64_t>(workers_);
    for (const std::uint64_t word : words_) {
      h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
      h ^= h >> 32U;
    }
    return static_cast<std::size_t>(h);
  }

 private:
  static unsigned bit(WorkerId worker) { return static_cast<unsigned>(worker.value) & 63U; }

  std::uint64_t& word(WorkerId worker) {
    PACELINE_DCHECK(worker.value >= 0 && worker.value < workers_);
    return words_[worker.index() / 64];
  }

  std::uint64_t word(WorkerId worker) const {
    PACELINE_DCHECK(worker.value >= 0 && worker.value < workers_);
    return words_[worker.index() / 64];
  }

  int workers_;
  std::vector<std::uint64_t> words_;
};

struct WorkerSetHash {
  std::size_t operator()(const WorkerSet& set) const { return set.hash(); }
};

}  // namespace paceline
