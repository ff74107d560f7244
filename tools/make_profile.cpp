// Writes a delay profile drawn from a delay model to standard output:
//   paceline_make_profile MODEL WORKERS ROUNDS SEED
// Response times are those at zero load, rounded to 0.1 ms.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "paceline/delays.hpp"
#include "paceline/parameters.hpp"

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: {} MODEL WORKERS ROUNDS SEED\n", argv[0]);
    return 2;
  }
  const auto count = [&](int at) {
    return static_cast<int>(paceline::to_number(argv[at]).value_or(0));
  };
  const int workers = count(2);
  const int rounds = count(3);
  const auto delays =
      paceline::make_delay_model(argv[1], workers, static_cast<std::uint64_t>(count(4)));
  if (!delays || rounds < 1) {
    fmt::print(stderr, "{}\n", delays ? "ROUNDS must be at least 1" : delays.error().message);
    return 2;
  }
  fmt::print("# delay profile: one line per round, one column per worker, seconds\n");
  fmt::print("# workers={} rounds={} load=0 model={} seed={}\n", workers, rounds, argv[1], argv[4]);
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < workers; ++i) {
      const paceline::Delay delay = (*delays)->delay(paceline::Round{r}, paceline::WorkerId{i});
      fmt::print("{}{:.4f}", i == 0 ? "" : ",", std::max(1e-4, delay.base.count()));
    }
    fmt::print("\n");
  }
  return 0;
}
