// Delays of finitely many rounds in memory, and views of them: other rounds (resamples, folds),
// other workers (a cluster without its slow ones, or with its workers renumbered). What searches
// and comparisons play, so that every scheme meets the same luck.
#pragma once

#include <memory>
#include <vector>

#include "paceline/delays.hpp"

namespace paceline {

/// A copy of the first rounds of a delay source. A value; copies share the numbers.
class DelayTable final : public DelaySource {
 public:
  /// @pre rounds >= 1
  static DelayTable record(const DelaySource& source, int rounds);

  /// Round r of the result is round rounds[r] of this one, after the last again the first.
  /// @pre not empty, each in 0 ... this->rounds()-1
  DelayTable with_rounds(const std::vector<int>& rounds) const;

  /// Worker i of the result is worker workers[i] of this one.
  /// @pre not empty, each in 0 ... this->workers()-1
  DelayTable with_workers(const std::vector<int>& workers) const;

  /// Every unit of load takes `factor` times as long. @pre finite, >= 0
  DelayTable with_slower_computing(double factor) const;

  int rounds() const { return static_cast<int>(rounds_.size()); }

  int workers() const override { return static_cast<int>(workers_.size()); }

  Delay delay(Round round, WorkerId worker) const override {
    const std::size_t r = static_cast<std::size_t>(round.value) % rounds_.size();
    const Delay& stored = (*delays_)[rounds_[r] + workers_[worker.index()]];
    return {stored.base, stored.per_load * computing_};
  }

 private:
  DelayTable() = default;

  std::shared_ptr<const std::vector<Delay>> delays_;  ///< a row per recorded round
  std::vector<std::size_t> rounds_;                   ///< where each round's row begins
  std::vector<std::size_t> workers_;                  ///< each worker's column
  double computing_ = 1;
};

}  // namespace paceline
