// Straggler models: which patterns S(0), S(1), ... of stragglers a scheme promises to survive.
//
//   s per round                at most s stragglers in every round
//   (B, W, lambda)-bursty      in every window of W rounds at most lambda distinct workers
//   straggle,
//                              and each worker's straggling rounds in it span at most B rounds
//   (N, W, lambda)-arbitrary   in every window of W rounds at most lambda distinct workers
//   straggle,
//                              each at most N times
//
// The check goes round by round. Rounds before the first count as free of stragglers, so it is
// enough to look at the window that ends in the current round: every other window was, or will be,
// the one that ends at its own last round. What the past says about the next round is one flag per
// worker (it must not straggle) and one number (distinct stragglers of the last W-1 rounds), so
// testing a set costs O(n) and allocates nothing.
// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023), section 2; the round-by-round form is ours.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// A value: a copy goes on by itself.
class StragglerModel {
 public:
  /// @pre 0 <= s
  static StragglerModel per_round(int workers, int s);
  /// @pre 1 <= B <= W, 0 <= lambda
  static StragglerModel bursty(int workers, int B, int W, int lambda);
  /// @pre 0 <= N <= W, 1 <= W, 0 <= lambda
  static StragglerModel arbitrary(int workers, int N, int W, int lambda);

  /// Whether the pattern pushed so far, followed by the set {i : straggles(i)}, conforms. Closed
  /// under removal: fewer stragglers are accepted where more are.
  template <class Straggles>
  bool accepts(const Straggles& straggles) const {
    int distinct = distinct_;
    for (int i = 0; i < workers_; ++i) {
      if (!straggles(WorkerId{i})) continue;
      const auto index = static_cast<std::size_t>(i);
      if (blocked_[index] != 0) return false;
      if (recent_[index] == 0) ++distinct;
      if (distinct > lambda_) return false;
    }
    return true;
  }

  bool accepts(const WorkerSet& stragglers) const {
    return accepts([&](WorkerId worker) { return stragglers.contains(worker); });
  }

  /// The round that was asked about ends with these stragglers (which need not conform).
  void push(const WorkerSet& stragglers);

 private:
  enum class Kind { kBursty, kArbitrary };

  StragglerModel(Kind kind, int workers, int limit, int window, int lambda);

  int straggles_ago(int worker, int least, int most) const;

  Kind kind_;
  int workers_;
  int limit_;   ///< B or N
  int window_;  ///< W
  int lambda_;
  std::vector<WorkerSet> past_;        ///< the last W-1 rounds, as a ring
  int next_ = 0;                       ///< where the next round goes in the ring
  int distinct_ = 0;                   ///< workers with recent_ > 0
  std::vector<int> recent_;            ///< straggles of worker i in the last W-1 rounds
  std::vector<std::uint8_t> blocked_;  ///< 1: worker i must not straggle in the next round
};

/// Builds a model from text: "per-round:s=2", "bursty:B=1,W=2,lambda=4" or
/// "arbitrary:N=1,W=3,lambda=4". Limits above `workers` are errors.
Expected<StragglerModel> make_straggler_model(std::string_view text, int workers);

}  // namespace paceline
