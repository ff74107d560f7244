// Ctrl-C: the first one asks the run to end in order, the second one ends the program at once.
#pragma once

#include <atomic>

namespace paceline::app {

/// Catches SIGINT and SIGTERM from now on. @return the flag that the first of them sets
std::atomic<bool>& catch_interrupts();

}  // namespace paceline::app
