// Walks through everything that straggler patterns can do to a scheme: states instead of patterns.
//
// Two pasts are the same state when, relative to the round, the same jobs are open, the same
// answers to each have come, and the straggler model has the same memory. What follows is the same
// then, so only one of them is followed, and the walk ends though patterns do not.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/straggler_model.hpp"
#include "support/scheme_player.hpp"

namespace paceline::test {

/// The scheme that is walked through.
struct Walked {
  std::string scheme;
  int workers = 0;
  int B = 0, W = 0, lambda = 0;
  CloseRule rule = CloseRule::kDecodable;
  int jobs = 0;

  std::string text() const;
};

class PatternState {
 public:
  explicit PatternState(const Walked& walked);

  /// These workers (bits) do not answer. @return whether the round may close
  bool play(unsigned stragglers);
  /// @pre play() said yes. @return what went wrong, or empty
  std::string close();

  /// Equal for equal states.
  const std::string& key() const { return key_; }

  bool finished() const { return player_.finished(); }

  int round() const { return player_.round().value; }

  const std::vector<unsigned>& pattern() const { return pattern_; }  ///< by round

 private:
  void remember();

  SchemePlayer player_;
  int memory_;  ///< rounds of the straggler model's memory
  std::vector<unsigned> pattern_;
  std::vector<bool> repeats_;  ///< by round: whether some job had been open before
  /// By open job: (worker, first chunk of the message), which tells a worker's messages apart.
  std::map<JobId, std::set<std::pair<int, int>>> answered_;
  std::string key_;
};

struct WalkResult {
  int states = 0;
  int rounds = 0;       ///< of the longest way to a new state
  std::string problem;  ///< the first pattern that is not survived, or empty
};

/// Plays every pattern that conforms to the (B, W, lambda)-bursty model.
WalkResult walk_conforming(const Walked& walked);

/// A pattern with the fewest straggles (then rounds) after which the round cannot close, bits by
/// round. The scheme's rule is kDecodable. Empty if there is none.
std::vector<unsigned> least_fatal_pattern(const Walked& walked);

/// "{0,1} {} {1}": who straggles, by round.
std::string pattern_text(const std::vector<unsigned>& pattern);

bool conforms(const std::vector<unsigned>& pattern, StragglerModel model, int workers);

}  // namespace paceline::test
