// Who is slow: each worker's present response time against the best worker's and against its own
// best, as scores between 0 and 1 (WorkerScore says of what).
#pragma once

#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/live_state.hpp"

namespace paceline {

class WorkerScores {
 public:
  static constexpr int kWindow = 16;  ///< rounds

  explicit WorkerScores(int workers) : workers_(static_cast<std::size_t>(workers)) {}

  void add(const RoundRecord& record);

  /// Forgets how fast workers were, not how often they straggled.
  void forget_times();

  std::vector<WorkerScore> scores() const;

 private:
  struct Worker {
    std::vector<float> in_order;  ///< the newest kWindow responses, a ring once it is full
    std::size_t oldest = 0;
    std::vector<float> sorted;  ///< the same
    double best = kNever.count();
    int worked = 0;
    int straggled = 0;

    void add(float seconds);
    double median() const;
  };

  std::vector<Worker> workers_;
};

}  // namespace paceline
