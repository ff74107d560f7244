// Measures a delay profile: rounds in which every worker computes the same share of one batch and
// all answers are waited for. No scheme, no update: what is measured is the cluster alone.
//
// Round 0 warms up (threads, caches, first allocations) with the greatest load and is not counted.
// Then loads alternate, so that a cluster that changes while it is measured changes all of them
// alike, and so that an interrupted probe has whole rounds of every load.
#pragma once

#include <memory>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"

namespace paceline {

struct ProbeOptions {
  int workers = 0;            ///< n >= 1
  int batch_size = 1;         ///< samples per gradient, >= 1
  std::vector<double> loads;  ///< 0 ... 1; a load stands for the nearest number of samples, at
                              ///< least one. No two may be the same number
  int rounds = 1;             ///< of each load, >= 1
  Seconds patience = kNever;  ///< a round that takes longer ends the probe with an error
};

/// What is sent, and what a round measures.
struct ProbePlan {
  int workers = 0;
  int rounds = 0;
  Seconds patience = kNever;
  std::vector<double> loads;       ///< ascending, samples / batch_size
  std::vector<double> chunk_size;  ///< of the batch; load k is the first k+1 chunks

  /// Index of the load of a round, or -1 for the warm-up.
  int load_of(Round round) const {
    return round.value == 0 ? -1 : (round.value - 1) % static_cast<int>(loads.size());
  }
};

/// An error names the value and what is allowed.
Expected<ProbePlan> plan_probe(const ProbeOptions& options);

/// Plays the plan: job 0 of model 0, over and over, never applied.
std::unique_ptr<Coordinator> make_probe_coordinator(const ProbePlan& plan);

}  // namespace paceline
