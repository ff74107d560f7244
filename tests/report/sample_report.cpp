#include "report/sample_report.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace paceline::sample {
namespace {

double uniform(std::mt19937_64& bits) { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

struct Kind {
  const char* label;
  double load;
  int decode_delay;
  double waits_for;  // fraction of the workers, and all who take less than 1.7 times the fastest
};

constexpr Kind kKinds[] = {{"uncoded", 0.0625, 0, 1},
                           {"gc:s=3", 0.25, 0, 0.81},
                           {"gc-rep:s=3", 0.25, 0, 0.81},
                           {"sr-sgc:B=1,W=2,lambda=4", 0.1875, 1, 0.8},
                           {"m-sgc:B=1,W=2,lambda=4", 0.125, 1, 0.75},
                           {"relay:T=3", 0.0781, 3, 0.75}};

// Bursts: a worker stays slow for some rounds.
std::vector<double> draw_times(std::vector<int>& slow_for, double load, std::mt19937_64& bits) {
  std::vector<double> times;
  for (int& left : slow_for) {
    if (left > 0) --left;
    if (left == 0 && uniform(bits) < 0.04) left = 1 + static_cast<int>(uniform(bits) * 6);
    const double base = 0.7 + 1.1 * load + 0.12 * -std::log(1 - uniform(bits));
    times.push_back(left > 0 ? base * (1.8 + 2 * uniform(bits)) : base);
  }
  return times;
}

RoundSummary play_round(int number, double opened, const std::vector<double>& times, double share) {
  const int workers = static_cast<int>(times.size());
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  double close = sorted[static_cast<std::size_t>(std::ceil(share * workers)) - 1];
  for (const double time : sorted) {
    if (time < 1.7 * sorted[0]) close = std::max(close, time);
  }
  RoundSummary round{.round = Round{number},
                     .opened = Seconds{opened},
                     .closed = Seconds{opened + close},
                     .busy = workers,
                     .response = {},
                     .stragglers = WorkerSet(workers),
                     .decoded = {JobId{number}},
                     .waited_out = share < 1 && number % 17 == 5};
  for (int i = 0; i < workers; ++i) {
    const double time = times[static_cast<std::size_t>(i)];
    round.response.push_back(time <= close ? static_cast<float>(time)
                                           : std::numeric_limits<float>::quiet_NaN());
    if (time > close) round.stragglers.insert(WorkerId{i});
  }
  return round;
}

SchemeRun play(const Kind& kind, const Size& size) {
  std::mt19937_64 bits(7);
  SchemeRun run;
  run.label = kind.label;
  run.load = kind.load;
  run.decode_delay = kind.decode_delay;
  run.jobs = size.rounds;
  run.rounds = size.rounds;
  run.loss.resize(static_cast<std::size_t>(size.models));
  std::vector<int> slow_for(static_cast<std::size_t>(size.workers), 0);
  double now = 0;
  int stragglers = 0;
  for (int r = 0; r < size.rounds; ++r) {
    run.history.push_back(
        play_round(r, now, draw_times(slow_for, kind.load, bits), kind.waits_for));
    now = run.history.back().closed.count();
    stragglers += run.history.back().stragglers.size();
    run.wait_outs += run.history.back().waited_out ? 1 : 0;
    const double steps = static_cast<double>(r) / size.models;
    run.loss[static_cast<std::size_t>(r % size.models)].push_back(
        {Seconds{now}, JobId{r}, 2.3 / (1 + 0.15 * steps) + 0.1 + 0.12 * uniform(bits)});
  }
  run.total = Seconds{now};
  run.mean_stragglers = static_cast<double>(stragglers) / size.rounds;
  run.predicted = Seconds{now * (0.93 + 0.1 * uniform(bits))};
  run.limit = Seconds{size.rounds * 0.86};
  run.worst_verify_error = 2.4e-7;
  run.verified = size.rounds;
  run.bytes_per_round = 31400.0 * size.workers;
  for (int m = 0; m < size.models; ++m) run.accuracy.push_back(0.96 + 0.02 * uniform(bits));
  return run;
}

}  // namespace

RunReport make_report(const Size& size) {
  RunReport report;
  report.title = "Four digit classifiers on sixteen unreliable workers";
  report.command =
      "paceline train --workers 16 --models 4 --jobs 480 --schemes "
      "uncoded,gc:s=3,gc-rep:s=3,sr-sgc:B=1,W=2,lambda=4,m-sgc:B=1,W=2,lambda=4,relay:T=3";
  report.date = "2025-11-30 07:00 UTC";
  report.machine = "Intel Xeon, 2 cores, 16 GB, Linux 6.1";
  report.configuration = {{"train.workers", "16", "command line"},
                          {"train.batch", "1024", "run.toml:3"},
                          {"train.optimizer", "sgd:lr=0.1,momentum=0.9", "default"},
                          {"delays.profile", "data/bursts.csv", "run.toml:9"}};
  for (int m = 0; m < size.models; ++m) report.models.push_back("softmax-" + std::to_string(m));
  for (int k = 0; k < size.schemes; ++k) report.schemes.push_back(play(kKinds[k], size));
  return report;
}

RunReport make_small_report() {
  RunReport report;
  report.title = "Two schemes";
  report.command = "paceline train";
  report.models = {"a", "b"};
  SchemeRun uncoded;
  uncoded.label = "uncoded";
  uncoded.load = 0.25;
  uncoded.jobs = 100;
  uncoded.rounds = 100;
  uncoded.total = Seconds{210.5};
  uncoded.predicted = Seconds{205};
  uncoded.limit = Seconds{80};
  uncoded.accuracy = {0.9, 0.91};
  SchemeRun gc = uncoded;
  gc.label = "gc:s=1";
  gc.load = 0.5;
  gc.total = Seconds{98.25};
  gc.predicted.reset();
  gc.mean_stragglers = 1;
  gc.worst_verify_error = 2.5e-7;
  gc.verified = 100;
  report.schemes = {uncoded, gc};
  return report;
}

}  // namespace paceline::sample
