#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "command.hpp"
#include "paceline/progress.hpp"

namespace paceline::app {
namespace {

Interrupts interrupts;
std::atomic<int> first_signal{0};
std::atomic<bool> terminate_waits{false};
std::atomic<bool> user_signal_waits{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  int none = 0;
  const bool first = first_signal.compare_exchange_strong(none, signal);
  const bool waits =
      (signal == SIGTERM && terminate_waits) || (signal == SIGUSR1 && user_signal_waits);
  if (waits && !interrupts.now) {
    interrupts.leaving = true;
    return;
  }
  if (!interrupts.now.exchange(true) || first) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kShowCursor, sizeof kShowCursor - 1);
  _exit(kSignalled + signal);
}

}  // namespace

Interrupts& catch_interrupts() {
  struct sigaction action {};

  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write
  return interrupts;
}

void let_rounds_end(bool on_terminate) {
  terminate_waits = on_terminate;
  user_signal_waits = true;
}

int interrupted_exit_code() {
  const int signal = first_signal;
  return kSignalled + (signal == 0 ? SIGINT : signal);
}

}  // namespace paceline::app
