// What the engine itself costs: scheme and coordinator without driver, queue or payloads. Answers
// come in an order drawn beforehand until the round closes, and the next round's orders go out.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/close_policy.hpp"
#include "paceline/random.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/scheme.hpp"

namespace paceline {
namespace {

constexpr int kJobs = 500;

std::unique_ptr<Coordinator> make_coordinator(const std::string& scheme_text, int workers) {
  auto policy = make_close_policy("eager");
  auto scheme = make_scheme(
      scheme_text,
      {.workers = workers, .jobs = kJobs, .rule = (*policy)->rule(), .keep_promise = false});
  const int models = (*scheme)->info().open_jobs;
  return *make_round_coordinator(
      *std::move(scheme), *std::move(policy), {.jobs = kJobs, .models = models});
}

/// Feeds answers round by round, each round's workers in an order of its own.
class Feeder {
 public:
  Feeder(Coordinator& coordinator, int workers)
      : coordinator_(coordinator), slot_(static_cast<std::size_t>(workers)) {
    RandomStream random(1, "order of answers");
    for (int i = 0; i < 64; ++i) orders_.push_back(random.permutation(workers));
  }

  /// Plays to the end. @return the number of rounds
  int play() {
    take(coordinator_.start(now_));
    while (!finished_) {
      const std::vector<int>& order = orders_[static_cast<std::size_t>(rounds_) % orders_.size()];
      const int round = rounds_;
      for (std::size_t i = 0; i < order.size() && rounds_ == round && !finished_; ++i) {
        // A rescue copy takes its worker's place in the order, until that answers no more.
        auto& asked = slot_[static_cast<std::size_t>(order[i])];
        while (asked.worker.value >= 0 && rounds_ == round && !finished_) {
          const Result result = std::exchange(asked, Result{WorkerId{-1}, {}});
          now_ += Seconds{1e-3};
          take(coordinator_.on(Arrived{result}, now_));
        }
      }
    }
    return rounds_;
  }

 private:
  void take(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        const Order& order = send->order;
        slot_[order.worker.index()] = {
            order.worker, order.round, order.dispatch, Seconds{order.load()}};
      } else if (const auto* stop = std::get_if<Stop>(&action)) {
        slot_[stop->worker.index()].worker = WorkerId{-1};
      } else if (std::holds_alternative<RoundRecord>(action)) {
        ++rounds_;
      } else if (std::holds_alternative<Finish>(action)) {
        finished_ = true;
      }
    }
  }

  Coordinator& coordinator_;
  std::vector<std::vector<int>> orders_;
  std::vector<Result> slot_;  ///< by worker: the answer it owes; worker -1: none
  Seconds now_{0};
  int rounds_ = 0;
  bool finished_ = false;
};

void play(benchmark::State& state, const std::string& scheme_text) {
  const int n = static_cast<int>(state.range(0));
  double rounds = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto coordinator = make_coordinator(scheme_text, n);
    Feeder feeder(*coordinator, n);
    state.ResumeTiming();
    rounds += feeder.play();
  }
  state.counters["rounds/s"] = benchmark::Counter(rounds, benchmark::Counter::kIsRate);
}

void BM_RoundUncoded(benchmark::State& state) { play(state, "uncoded"); }

void BM_RoundRepetition(benchmark::State& state) { play(state, "gc:s=3,code=repetition"); }

void BM_RoundSrSgc(benchmark::State& state) {
  play(state, "sr-sgc:B=1,W=2,lambda=4,code=repetition");
}

void BM_RoundMSgc(benchmark::State& state) {
  play(state, "m-sgc:B=1,W=2,lambda=4,code=repetition");
}

void BM_RoundRelay(benchmark::State& state) { play(state, "relay"); }

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_RoundUncoded)->Apply(sizes);
BENCHMARK(BM_RoundRepetition)->Apply(sizes);
BENCHMARK(BM_RoundSrSgc)->Apply(sizes);
BENCHMARK(BM_RoundMSgc)->Apply(sizes);
BENCHMARK(BM_RoundRelay)->Apply(sizes);

}  // namespace
}  // namespace paceline
