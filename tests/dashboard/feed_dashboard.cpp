// Serves the page of a made-up run, for the browser test and for looking at the page while editing
// it:
//   paceline_dashboard_feed ADDRESS WORKERS ROUNDS MODELS ROUNDS_PER_SECOND
// Prints the address, plays, and stays until its input ends.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <thread>

#include "dashboard/rounds.hpp"
#include "paceline/dashboard.hpp"

namespace paceline {
namespace {

/// Workers of different speeds with bursts. A round waits for three quarters of them, and for all
/// who take less than twice the time of the fastest.
class MadeUpRun {
 public:
  explicit MadeUpRun(int workers) : workers_(workers), burst_(static_cast<std::size_t>(workers)) {}

  /// @return the round, and when its slowest worker would have answered
  std::pair<RoundRecord, double> play(int number, double opened) {
    std::vector<double> times(static_cast<std::size_t>(workers_));
    for (std::size_t i = 0; i < times.size(); ++i) {
      int& left = burst_[i];
      if (left > 0) --left;
      if (left == 0 && draw() < 0.006) left = 1 + static_cast<int>(40 * draw());
      const double own = i % 37 == 11 ? 1.7 : 1 + 0.15 * static_cast<double>(i % 8) / 8;
      times[i] = 0.11 * own + 0.012 * -std::log(1 - draw()) + (left > 0 ? 0.12 + 0.2 * draw() : 0);
    }
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    double took = sorted[sorted.size() * 3 / 4];
    for (const double time : sorted) {
      if (time < 2 * sorted[0]) took = std::max(took, time);
    }
    for (double& time : times) {
      if (time > took) time = rounds::kStraggles;
    }
    return {rounds::make_round(number, opened, took, times), sorted.back()};
  }

  double draw() { return static_cast<double>(bits_() >> 11U) * 0x1p-53; }

 private:
  int workers_;
  std::vector<int> burst_;
  std::mt19937_64 bits_{7};
};

void play(LiveState& state, int workers, int count, int models, double per_second) {
  MadeUpRun run(workers);
  double now = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int r = 0; r < count; ++r) {
    const auto [record, slowest] = run.play(r, now);
    now = record.closed.count();
    const int model = r % models;
    const double loss = 0.1 + 0.05 * model + 2.3 / (1 + 0.02 * r) * (0.9 + 0.2 * run.draw());
    state.add(record,
              rounds::decoded(r, model, loss),
              "relay:T=3,r0=1,x=0.2",
              {.slowest = Seconds{slowest}, .limit = Seconds{0.11 * (r + 1)}});
    std::this_thread::sleep_until(begin + Seconds{(r + 1) / per_second});
  }
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  using namespace paceline;
  if (argc != 6) {
    std::fputs("usage: paceline_dashboard_feed ADDRESS WORKERS ROUNDS MODELS ROUNDS_PER_SECOND\n",
               stderr);
    return 2;
  }
  const int workers = std::atoi(argv[2]);
  const int count = std::atoi(argv[3]);
  const int models = std::atoi(argv[4]);
  LiveState state;
  LiveRun run = rounds::run_of(workers, models);
  run.title = std::to_string(models) + " x small-cnn on MNIST, " + argv[2] + " workers";
  run.command = "paceline train --model small-cnn --workers " + std::string(argv[2]) +
                " --scheme uncoded,relay:T=3,r0=1 --dashboard " + argv[1];
  run.directory = "runs/20261130-221500";
  state.describe(run);
  const auto address = parse_dashboard_address(argv[1]);
  const auto dashboard = address ? Dashboard::open(*address, state) : Unexpected(address.error());
  if (!dashboard) {
    std::fprintf(stderr, "%s\n", dashboard.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", (*dashboard)->url().c_str());
  std::fflush(stdout);
  state.begin(
      {.number = 1, .schemes = 3, .label = "uncoded", .jobs = 40, .predicted = {}, .limit = {}});
  play(state, workers, 40, models, 1e9);
  state.end();
  state.begin({.number = 2,
               .schemes = 3,
               .label = "relay:T=3,r0=1,x=0.2",
               .jobs = count + count / 4,
               .predicted = Seconds{0.17 * count},
               .limit = Seconds{0.11 * (count + count / 4)}});
  play(state, workers, count, models, std::atof(argv[5]));
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
}
