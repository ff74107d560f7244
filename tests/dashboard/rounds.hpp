// Rounds to feed a live page with, as short to write down as a table.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "paceline/live_state.hpp"

namespace paceline::rounds {

inline constexpr double kIdle = std::numeric_limits<double>::infinity();
inline constexpr double kStraggles = -1;

/// A round of `took` seconds; response[i]: what worker i took, kIdle or kStraggles.
inline RoundRecord make_round(int number,
                              double opened,
                              double took,
                              const std::vector<double>& response) {
  const int workers = static_cast<int>(response.size());
  RoundRecord record;
  record.round = Round{number};
  record.opened = Seconds{opened};
  record.closed = Seconds{opened + took};
  record.answers = Answers(workers);
  record.stragglers = WorkerSet(workers);
  for (int i = 0; i < workers; ++i) {
    const double time = response[static_cast<std::size_t>(i)];
    if (time != kIdle) ++record.busy;
    if (time == kStraggles) {
      record.stragglers.insert(WorkerId{i});
    } else {
      record.answers.time[static_cast<std::size_t>(i)] = Seconds{time};
    }
  }
  return record;
}

inline std::vector<JobLoss> decoded(int job, int model, double loss) {
  return {{JobId{job}, ModelId{model}, loss, 0, false}};
}

inline LiveRun run_of(int workers, int models) {
  LiveRun run{.id = "7",
              .title = "a \"quoted\" title",
              .command = "paceline train",
              .directory = "runs/x",
              .workers = workers,
              .models = {}};
  for (int m = 0; m < models; ++m) run.models.push_back("net " + std::to_string(m));
  return run;
}

/// A scheme whose rounds take 0.5 s each, one job per round, model after model. In round r worker
/// r mod n straggles; the others take 0.25 s.
inline void play(LiveState& state, int workers, int models, int first, int count) {
  for (int r = first; r < first + count; ++r) {
    std::vector<double> response(static_cast<std::size_t>(workers), 0.25);
    response[static_cast<std::size_t>(r % workers)] = kStraggles;
    state.add(make_round(r, 10 + 0.5 * r, 0.5, response),
              decoded(r, r % models, 1.0 / (1 + r)),
              "gc:s=1",
              {.slowest = Seconds{0.75}, .limit = Seconds{0.2 * (r + 1)}});
  }
}

}  // namespace paceline::rounds
