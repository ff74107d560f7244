#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "command.hpp"
#include "paceline/progress.hpp"

namespace paceline::app {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void on_signal(int /*signal*/) {
  if (!interrupted.exchange(true)) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kShowCursor, sizeof kShowCursor - 1);
  _exit(kExitInterrupted);
}

}  // namespace

std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};

  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace paceline::app
