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
// worker (it must not straggle) and another (it straggled in the last W-1 rounds), so testing a set
// costs a few operations per 64 workers and allocates nothing.
// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023), section 2; the round-by-round form is ours.
#pragma once

#include <string_view>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// The longest window W a text may ask for.
inline constexpr int kLongestWindow = 1024;

/// A value: a copy goes on by itself.
class StragglerModel {
 public:
  /// @pre 0 <= s
  static StragglerModel per_round(int workers, int s);
  /// @pre 1 <= B <= W, 0 <= lambda
  static StragglerModel bursty(int workers, int B, int W, int lambda);
  /// @pre 0 <= N <= W, 1 <= W, 0 <= lambda
  static StragglerModel arbitrary(int workers, int N, int W, int lambda);

  /// Whether the pattern pushed so far, followed by this set, conforms. Closed under removal: fewer
  /// stragglers are accepted where more are.
  bool accepts(const WorkerSet& stragglers) const {
    return !stragglers.intersects(blocked_) && stragglers.size_with(recent_) <= lambda_;
  }

  /// The round that was asked about ends with these stragglers (which need not conform).
  void push(const WorkerSet& stragglers);

 private:
  enum class Kind { kBursty, kArbitrary };

  StragglerModel(Kind kind, int workers, int limit, int window, int lambda);

  const WorkerSet& ago(int rounds) const;

  Kind kind_;
  int workers_;
  int limit_;   ///< B or N
  int window_;  ///< W
  int lambda_;
  std::vector<WorkerSet> past_;  ///< the last W-1 rounds, as a ring
  int next_ = 0;                 ///< where the next round goes in the ring
  WorkerSet recent_;             ///< who straggled in the last W-1 rounds
  WorkerSet blocked_;            ///< who must not straggle in the next round
};

/// Builds a model from text: "per-round:s=2", "bursty:B=1,W=2,lambda=4" or
/// "arbitrary:N=1,W=3,lambda=4". Limits above `workers` are errors.
Expected<StragglerModel> make_straggler_model(std::string_view text, int workers);

}  // namespace paceline
