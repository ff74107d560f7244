// Finds good settings of one scheme: from coarse to fine along lines, with few rounds for many
// candidates first and many rounds for the few best last (successive halving).
//
// All values 1, 4, 16, ... of all lines are played for a short while; the better ones go on and
// bring the values halfway to their neighbours along, and their neighbours in patience (how long a
// round that may close waits). In the end the best one climbs until no neighbour is better.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/search_space.hpp"
#include "tune/arena.hpp"

namespace paceline {

/// A line of candidates, each with several close policies.
struct CandidateLine {
  int low = 0;
  int high = 0;
  std::function<Candidate(int value)> at;       ///< its close policy is replaced
  std::vector<std::string> closes = {"eager"};  ///< from the least to the most patient one
  int first_close = 0;                          ///< the one that is tried everywhere
};

/// Lists of close policies, each from the least to the most patient one.
using CloseLists = std::vector<std::vector<std::string>>;

/// The close policies worth trying with one reading of may_close: eager and the fraction of answers
/// to wait for, and multiples of the fastest answer. With all readings but the published one.
CloseLists searched_closes(CloseRule rule);
CloseLists searched_closes();

/// The lines of a family, once with each list of close policies.
std::vector<CandidateLine> candidate_lines(const SearchFamily& family, const CloseLists& closes);

struct LineSearch {
  const Arena* arena = nullptr;
  bool must_train = true;  ///< pass over codes that cannot keep the promised accuracy
  SearchControl control = {};
  std::string family;          ///< for trials
  double done = 0, share = 1;  ///< where this search lies in all of them, for progress
  std::string what;            ///< for progress
};

struct LineResult {
  std::optional<Trial> best;  ///< of those played longest; nothing if no candidate was good
  std::vector<Trial> trials;  ///< every candidate that was played, longest play each
  bool interrupted = false;
};

LineResult search_lines(const std::vector<CandidateLine>& lines, const LineSearch& search);

}  // namespace paceline
