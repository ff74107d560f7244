// The published parameter search: what the program behind the SGC paper tries on a delay profile,
// with its own rules for closing a round and for what it charges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/expected.hpp"

namespace paceline {

/// The search space: GC with s = 1 ... n-1; SR-SGC with lambda = 1 ... n, B = 1 ... most_slots and
/// W = B+1, 2B+1, ... <= longest_window; M-SGC with lambda = 1 ... n, 1 <= B < W <= longest_window
/// and W-1+B <= most_slots.
struct PublishedSearchOptions {
  int jobs = 20;            ///< J >= 1
  double mu = 1;            ///< tolerance: wait (1+mu) times the fastest answer, else for all; >= 0
  int longest_window = 20;  ///< >= 1
  int most_slots = 10;      ///< the program's Tmax, >= 0
  ReplayOptions replay = {};  ///< how load changes the profile's times; not proportional
};

struct PublishedCandidate {
  std::string_view scheme;  ///< "uncoded", "gc", "sr-sgc" or "m-sgc"
  int B = 0;
  int W = 0;
  int lambda = 0;
  int s = 0;  ///< of the gradient code; 0 for M-SGC and uncoded
  double load = 0;
  Seconds total{0};   ///< until the last job is decoded, tail rounds included
  int wait_outs = 0;  ///< rounds that waited for all

  /// For make_scheme: "sr-sgc:B=1,W=2,lambda=8".
  std::string text() const;
};

struct PublishedSearch {
  std::vector<PublishedCandidate> candidates;  ///< all of them, uncoded first
  std::vector<PublishedCandidate> best;        ///< one per scheme: least total, then least load
};

/// Plays every candidate. The totals equal those of play() with close policy "published:mu=..." up
/// to rounding.
/// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023), program. Differs: s = n is left out.
/// Cost:    n = 256, J = 20, the default options: 19,712 simulations in about a tenth of a second
Expected<PublishedSearch> published_search(const DelayProfile& profile,
                                           const PublishedSearchOptions& options);

}  // namespace paceline
