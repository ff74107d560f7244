// The README's ten lines: which scheme is faster on a cluster with bursts of stragglers?
#include <cstdio>
#include <utility>

#include "paceline/close_policy.hpp"
#include "paceline/delays.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"

using namespace paceline;

int main() {
  const auto delays =
      make_delay_model("bursty:base=1,slope=2,slow=5,bad=0.03,good=0.5", 64, 1).value();
  for (const char* text : {"uncoded", "gc:s=3", "relay:T=3,r0=1"}) {
    auto scheme = make_scheme(text, {.workers = 64, .jobs = 200}).value();
    const int models = scheme->info().open_jobs;
    auto coordinator = make_round_coordinator(
        std::move(scheme), make_close_policy("eager").value(), {.jobs = 200, .models = models});
    const SimulationResult result = simulate(*coordinator.value(), *delays).value();
    std::printf("%-16s %7.1f s for %d gradients\n", text, result.total.count(), result.jobs);
  }
}
