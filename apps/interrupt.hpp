// Signals that end a run. The first one asks it to end in order, a second one ends the program at
// once. Ctrl-C asks to end now; where checkpoints are taken SIGTERM and SIGUSR1, which batch
// systems send some time before they kill, let the running round end.
#pragma once

#include <atomic>

namespace paceline::app {

struct Interrupts {
  std::atomic<bool> now{false};      ///< the run shall end
  std::atomic<bool> leaving{false};  ///< the run shall end when the running round has closed
};

/// Catches SIGINT, SIGTERM and SIGUSR1 from now on.
Interrupts& catch_interrupts();

/// From now on SIGUSR1 sets `leaving`, and so does SIGTERM if `on_terminate`. A launcher that sends
/// SIGTERM kills too soon after it.
void let_rounds_end(bool on_terminate);

/// 128 and the number of the signal that came first: 130, 143 or 138.
int interrupted_exit_code();

}  // namespace paceline::app
