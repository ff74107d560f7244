// What searches over schemes and their settings have in common: a candidate, what became of it, and
// how a long search is watched and stopped.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "paceline/scheme.hpp"

namespace paceline {

/// A scheme with all its settings.
struct Candidate {
  std::string scheme;           ///< for make_scheme
  std::string close = "eager";  ///< for make_close_policy
  std::vector<int> workers;     ///< those that take part; empty: all
};

/// A candidate that was played.
struct Trial {
  std::string family;  ///< SearchFamily::name
  Candidate candidate;
  SchemeInfo info;
  double seconds_per_job = 0;
  int jobs = 0;  ///< how many, over all resamples: the more, the surer
};

struct SearchProgress {
  std::string what;  ///< what is being searched, "m-sgc, fold 2 of 3"
  double done = 0;   ///< about, 0 ... 1, of everything
  std::string best;  ///< of this part so far, "gc:groups=26, 0.6655 s per job"; may be empty
};

/// How a search is run. None of it changes its result, except that an interrupted one ends early.
struct SearchControl {
  int threads = 0;                                 ///< 0: as many as the machine has cores
  const std::atomic<bool>* interrupted = nullptr;  ///< ends the search once true
  std::function<void(const SearchProgress&)> on_progress = {};  ///< from the caller's thread
};

}  // namespace paceline
