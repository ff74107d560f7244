#include "paceline/local_runtime.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "runtime/clock.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;
using test::ScriptedDelays;
using test::TrainingRun;

SteadyTime now() { return std::chrono::steady_clock::now(); }

constexpr double kForEver = 1e7;  // milliseconds

TEST(LocalRuntime, TrainsLikePlainGradientDescent) {
  TrainingRun run(4, 4);
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_EQ(result->jobs, 6);
  EXPECT_EQ(result->rounds, 6);
  EXPECT_EQ(result->messages, 24);
  EXPECT_EQ(result->bytes_per_round, 4 * test::kLength * sizeof(float));
  EXPECT_EQ(result->mean_stragglers, 0);
  ASSERT_EQ(run.records.size(), 6U);
  ASSERT_EQ(run.losses.size(), 6U);
  EXPECT_LT(run.losses.back(), run.losses.front());
}

TEST(LocalRuntime, DropsStragglersAndStaysExact) {
  TrainingRun run(6, 3);
  // In every round another worker would need hours.
  const ScriptedDelays delays(
      6, [](int round, int worker) { return worker == round % 6 ? kForEver : 3.0 + worker; });
  run.options.delays = &delays;
  run.options.verify = true;
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_LT(result->total, Seconds(2));
  EXPECT_GE(result->mean_stragglers, 1);
  EXPECT_EQ(result->verified, 6);
  EXPECT_LT(result->worst_verify_error, 1e-6);
}

TEST(LocalRuntime, AStragglerDoesNotDelayTheEnd) {
  TrainingRun run(4, 2);
  run.rounds.cancel_stragglers = false;
  run.rounds.jobs = 1;
  const ScriptedDelays delays(4, [](int, int worker) { return worker < 2 ? 1.0 : 10000.0; });
  run.options.delays = &delays;
  const SteadyTime begin = now();
  ASSERT_TRUE(run.go());
  EXPECT_LT(now() - begin, std::chrono::seconds(5));
}

TEST(LocalRuntime, LateAnswersOfStragglersThatAreNotStoppedDoNoHarm) {
  TrainingRun run(4, 2);
  run.rounds.cancel_stragglers = false;
  // Worker 3 answers round 0 during round 1, and takes up round 1 only then.
  const ScriptedDelays delays(4, [](int round, int worker) {
    return worker == 3 ? (round == 0 ? 45.0 : 5.0) : 20.0 + worker + (round == 1 ? 40.0 : 0.0);
  });
  run.options.delays = &delays;
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  ASSERT_EQ(run.records.size(), 6U);
  EXPECT_TRUE(run.records[0].stragglers.contains(WorkerId{3}));
  EXPECT_EQ(run.records[1].answers.done[3], 1);
  EXPECT_GT(run.records[1].answers.time[3], Seconds(0.025))
      << "it had to end round 0's work before";
}

TEST(LocalRuntime, AnswersInTheirInjectedTimesAndReportsThem) {
  TrainingRun run(3, 3);
  run.rounds.jobs = 3;
  const ScriptedDelays delays(3, [](int round, int worker) { return 10.0 * (worker + 1 + round); });
  run.options.delays = &delays;
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  for (const RoundRecord& record : run.records) {
    for (int worker = 0; worker < 3; ++worker) {
      const double injected = 0.010 * (worker + 1 + record.round.value);
      const double took = record.answers.time[static_cast<std::size_t>(worker)].count();
      EXPECT_GE(took, injected - 1e-9);
      EXPECT_LT(took, injected + 0.2);
    }
  }
  EXPECT_GE(result->total, Seconds(0.12));
}

TEST(LocalRuntime, TimersCloseARoundWithoutAnAnswer) {
  TrainingRun run(4, 2);
  run.policy = "conforming:mu=1,rule=decodable";
  const ScriptedDelays delays(4, [](int, int worker) { return worker < 2 ? 10.0 : kForEver; });
  run.options.delays = &delays;
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  for (const RoundRecord& record : run.records) {
    EXPECT_GE(record.closed - record.opened, 2 * record.answers.time[0]);
  }
}

TEST(LocalRuntime, CountsAnswersThatComeLateForWantOfCores) {
  TrainingRun run(4, 4);
  run.rounds.jobs = 2;
  run.options.compute_slots = 1;
  const ScriptedDelays delays(4, [](int, int) { return 2.0; });
  run.options.delays = &delays;
  run.hook = [](auto, auto) {
    const SteadyTime end = now() + milliseconds(2);
    while (now() < end) {
    }
  };
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->overruns, 8);
}

TEST(LocalRuntime, WorkersThatNeverAnswerAreDoneWithout) {
  TrainingRun run(4, 2);
  const double never = std::numeric_limits<double>::infinity();
  const ScriptedDelays delays(4, [&](int, int worker) { return worker < 2 ? 2.0 : never; });
  run.options.delays = &delays;
  ASSERT_TRUE(run.go());
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
}

TEST(LocalRuntime, ARunThatWaitsForAnswersThatNeverComeEnds) {
  TrainingRun run(4, 4);
  const double never = std::numeric_limits<double>::infinity();
  const ScriptedDelays delays(
      4, [&](int round, int worker) { return round == 2 && worker == 3 ? never : 2.0; });
  run.options.delays = &delays;
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_EQ(result.error().message,
            "stalled after 2 rounds and 2 decoded jobs: 1 outstanding orders will never be "
            "answered");
}

TEST(LocalRuntime, AnExceptionEndsTheRunWithWorkerAndJobOnTop) {
  TrainingRun run(3, 3);
  std::atomic<int> calls{0};
  run.hook = [&](auto, auto) {
    if (++calls == 9) throw std::runtime_error("no such tensor");
  };
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_EQ(result.error().message.substr(0, 7), "worker ");
  EXPECT_NE(result.error().message.find(", job "), std::string::npos);
  EXPECT_NE(result.error().message.find(": no such tensor"), std::string::npos);
}

TEST(LocalRuntime, RunningOutOfMemoryIsAFailureOfTheWorker) {
  TrainingRun run(3, 3);
  run.hook = [](auto, auto) { throw std::bad_alloc(); };
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("out of memory"), std::string::npos);
}

// Puts NaN into whatever is made of a chunk's first sample in the very first round.
test::QuadraticSource::Hook spoil(int sample) {
  return [sample](std::span<const int> samples, std::span<float> out) {
    if (samples[0] == sample) out[0] = std::numeric_limits<float>::quiet_NaN();
  };
}

TEST(LocalRuntime, AMessageThatIsNotFiniteEndsTheRunWhenItIsUsed) {
  TrainingRun run(4, 4);
  run.hook = spoil(6);  // sample 6 opens worker 1's chunk of job 0
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_NE(result.error().message.find("worker 1's message for job 0"), std::string::npos)
      << result.error().message;
}

TEST(LocalRuntime, AMessageThatIsNotFiniteDoesNoHarmWhenItIsNotUsed) {
  TrainingRun run(4, 2);
  run.policy = "quantile:q=1";  // all are heard; only the first of each group is used
  std::atomic<int> calls{0};
  run.options.compute_slots = 1;
  const ScriptedDelays delays(4, [](int, int worker) { return 5.0 * (worker + 1); });
  run.options.delays = &delays;
  run.rounds.jobs = 1;
  // One slot computes in the order of the delays, three micro-batches each: 6 ... 8 are worker 2's.
  run.hook = [&](auto, std::span<float> out) {
    if (++calls > 6) out[1] = std::numeric_limits<float>::infinity();
  };
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->messages, 4);
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
}

TEST(LocalRuntime, AnInterruptionEndsTheRunPromptlyEvenWhileAllWait) {
  TrainingRun run(4, 4);
  std::atomic<bool> interrupted{false};
  run.options.interrupted = &interrupted;
  const ScriptedDelays delays(4, [](int round, int) { return round == 0 ? 5.0 : kForEver; });
  run.options.delays = &delays;
  SteadyTime asked;
  run.options.observer = [&](const RoundReport&) {
    interrupted = true;
    asked = now();
  };
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
  EXPECT_LT(now() - asked, milliseconds(500));
}

TEST(LocalRuntime, AnInterruptionFromAnotherThreadIsSeenWithoutAnyEvent) {
  TrainingRun run(4, 4);
  std::atomic<bool> interrupted{false};
  run.options.interrupted = &interrupted;
  const ScriptedDelays delays(4, [](int, int) { return kForEver; });
  run.options.delays = &delays;
  // All computing done means that nothing but the injected times is waited for.
  std::atomic<int> calls{0};
  run.hook = [&](auto, auto) {
    if (++calls == 8) interrupted = true;
  };
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

TEST(LocalRuntime, ExceptionsOfTheObserverReachTheCaller) {
  TrainingRun run(4, 4);
  run.options.observer = [](const RoundReport&) { throw std::logic_error("observer"); };
  EXPECT_THROW((void)run.go(), std::logic_error);
}

TEST(LocalRuntime, ManyWorkersStartRunAndEndQuickly) {
  TrainingRun run(256, 24);
  run.options.compute_slots = 256;
  const SteadyTime begin = now();
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_LT(now() - begin, std::chrono::seconds(10));
}

TEST(LocalRuntime, WrongOptionsAreErrorsThatNameValueAndRange) {
  const auto message = [](auto change) {
    TrainingRun run(4, 4);
    change(run.options);
    const auto result = run.go();
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(message([](auto& o) { o.workers = 0; }), "workers=0 is not allowed; workers >= 1");
  EXPECT_EQ(message([](auto& o) { o.micro_batch = 0; }),
            "micro_batch=0 is not allowed; micro_batch >= 1");
  EXPECT_EQ(message([](auto& o) { o.compute_slots = -1; }),
            "compute_slots=-1 is not allowed; compute_slots >= 0, 0 for the machine's cores");
  const ScriptedDelays delays(3, [](int, int) { return 1.0; });
  EXPECT_EQ(message([&](auto& o) { o.delays = &delays; }),
            "workers=4 is too many for delays of 3 workers; workers <= 3");
}

}  // namespace
}  // namespace paceline
