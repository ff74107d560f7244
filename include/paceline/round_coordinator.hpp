// Plays one scheme with one close policy for a given number of jobs.
#pragma once

#include <memory>

#include "paceline/close_policy.hpp"
#include "paceline/coordinator.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

struct RoundOptions {
  int jobs = 0;    ///< J >= 1
  int models = 0;  ///< M >= the scheme's open_jobs; job t is update t div M of model t mod M
  bool cancel_stragglers =
      true;  ///< stop them when a round closes; false: they finish and answer late
  bool charge_missing_jobs =
      false;  ///< work of jobs past the last one is charged in time, as the published program does
  bool study_between_rounds =
      true;  ///< the scheme's study() is finished before each plan; false: the driver calls study()
};

/// An error unless jobs >= 1 and there are as many models as the scheme keeps in flight (M > T).
Expected<void> check_round_options(const SchemeInfo& info, const RoundOptions& options);

/// So many rounds in a row may pass without work, or without an answer. A scheme with more of them
/// although jobs are open is broken: it is given up instead of playing for ever.
int most_idle_rounds(const SchemeInfo& info);

/// @return the coordinator, or an error: jobs < 1, or fewer models than the scheme keeps in flight
/// (M <= T).
Expected<std::unique_ptr<Coordinator>> make_round_coordinator(std::unique_ptr<Scheme> scheme,
                                                              std::unique_ptr<ClosePolicy> policy,
                                                              const RoundOptions& options);

}  // namespace paceline
