// The virtual-time driver against a scripted coordinator and scripted delays.
#include "paceline/simulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "paceline/check.hpp"

namespace paceline {
namespace {

/// Worker i of round r takes base[r][i] seconds (the last row again after the end), and 1 second
/// per unit of load.
class ScriptedDelays final : public DelaySource {
 public:
  explicit ScriptedDelays(std::vector<std::vector<double>> base) : base_(std::move(base)) {}

  int workers() const override { return static_cast<int>(base_[0].size()); }

  Delay delay(Round round, WorkerId worker) const override {
    const auto& row = base_[std::min(round.index(), base_.size() - 1)];
    return {Seconds{row[worker.index()]}, Seconds{1}};
  }

 private:
  std::vector<std::vector<double>> base_;
};

/// Plays prepared actions: those under "start", then those under the name of each event. Writes
/// down every event with its time: "worker/round.dispatch@time" or "timer@time".
class Script final : public Coordinator {
 public:
  std::map<std::string, Actions> on_event;
  std::vector<std::string> log;
  std::vector<double> compute;
  std::vector<double> waited;

  Actions start(Seconds) override { return on_event["start"]; }

  Actions on(const Event& event, Seconds now) override {
    std::string name;
    if (const auto* arrived = std::get_if<Arrived>(&event)) {
      const Result& result = arrived->result;
      name = fmt::format("{}/{}.{}", result.worker.value, result.round.value, result.dispatch);
      compute.push_back(result.compute.count());
      waited.push_back(result.waited.count());
    } else {
      name = fmt::format("timer{}", std::get<TimerFired>(event).timer);
    }
    log.push_back(fmt::format("{}@{:g}", name, now.count()));
    return on_event[name];
  }

  std::unique_ptr<Coordinator> clone() const override { return std::make_unique<Script>(*this); }
};

Send send(int worker, int round, int dispatch = 0, double load = 0) {
  Order order{WorkerId{worker}, Round{round}, dispatch, {}};
  order.tasks.push_back({{}, JobId{0}, ModelId{0}, Version{0}, Row(), load});
  return {std::move(order)};
}

Stop stop(int worker, int round) { return {WorkerId{worker}, Round{round}}; }

using Log = std::vector<std::string>;

TEST(Simulator, AnswersComeInOrderOfTimeWithTheirComputeTime) {
  const ScriptedDelays delays({{2, 1, 3}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0, 0, 0.5), send(2, 0)};
  script.on_event["2/0.0"] = {Finish{}};
  const auto result = simulate(script, delays);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(script.log, (Log{"1/0.0@1.5", "0/0.0@2", "2/0.0@3"}));
  EXPECT_EQ(script.compute, (std::vector<double>{0.5, 0, 0}));
  EXPECT_EQ(result->total.count(), 3);
}

TEST(Simulator, AtEqualTimesAnswersComeBeforeTimersAndByWorker) {
  const ScriptedDelays delays({{2, 2, 2}});
  Script script;
  script.on_event["start"] = {
      Arm{7, Seconds{2}}, Arm{3, Seconds{2}}, send(2, 0), send(0, 0), send(1, 0)};
  script.on_event["timer3"] = {Finish{}};
  ASSERT_TRUE(simulate(script, delays));
  EXPECT_EQ(script.log, (Log{"0/0.0@2", "1/0.0@2", "2/0.0@2", "timer7@2", "timer3@2"}));
}

TEST(Simulator, ASecondDispatchMeetsTheLuckOfTheNextRound) {
  const ScriptedDelays delays({{1, 9}, {4, 9}});
  Script script;
  script.on_event["start"] = {send(0, 0)};
  script.on_event["0/0.0"] = {send(0, 0, 1)};
  script.on_event["0/0.1"] = {Finish{}};
  ASSERT_TRUE(simulate(script, delays));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "0/0.1@5"}));
}

TEST(Simulator, AnOrderThatGoesOnTakesWhatTheLongerListTakesMore) {
  for (const WorkerKind kind : {WorkerKind::kStateless, WorkerKind::kPersistent}) {
    const ScriptedDelays delays({{5}, {100}});  // 5 s, and a second for each unit of load
    Script script;
    Send second = send(0, 0, 1, 1);
    second.order.ahead = 2;
    Send third = send(0, 0, 2, 0.5);
    third.order.ahead = 3;
    script.on_event["start"] = {send(0, 0, 0, 2), std::move(second), std::move(third)};
    script.on_event["0/0.2"] = {Finish{}};
    ASSERT_TRUE(simulate(script, delays, {.workers = kind}));
    EXPECT_EQ(script.log, (Log{"0/0.0@7", "0/0.1@8", "0/0.2@8.5"}));
    EXPECT_EQ(script.compute, (std::vector<double>{2, 1, 0.5}));
  }
}

TEST(Simulator, AStoppedAnswerNeverArrives) {
  for (const WorkerKind kind : {WorkerKind::kStateless, WorkerKind::kPersistent}) {
    const ScriptedDelays delays({{1, 4}, {9, 1}});
    Script script;
    script.on_event["start"] = {send(0, 0), send(1, 0)};
    script.on_event["0/0.0"] = {stop(1, 0), send(0, 1), send(1, 1)};
    script.on_event["0/1.0"] = {Finish{}};
    ASSERT_TRUE(simulate(script, delays, {.workers = kind}));
    EXPECT_EQ(script.log, (Log{"0/0.0@1", "1/1.0@2", "0/1.0@10"}));
  }
}

TEST(Simulator, AStopOfOneRoundLeavesTheOthersAlone) {
  const ScriptedDelays delays({{1, 5}, {1, 5}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  script.on_event["0/0.0"] = {send(1, 1), stop(1, 1)};
  script.on_event["1/0.0"] = {Finish{}};
  ASSERT_TRUE(simulate(script, delays));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "1/0.0@5"}));
}

TEST(Simulator, AStatelessStragglerAnswersLateAndStartsTheNextRoundInTime) {
  const ScriptedDelays delays({{1, 4}, {9, 1}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  script.on_event["0/0.0"] = {send(0, 1), send(1, 1)};
  script.on_event["0/1.0"] = {Finish{}};
  ASSERT_TRUE(simulate(script, delays));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "1/1.0@2", "1/0.0@4", "0/1.0@10"}));
  EXPECT_EQ(script.waited, (std::vector<double>{0, 0, 0, 0}));
}

TEST(Simulator, APersistentStragglerStartsItsNextOrderWhenItHasFinished) {
  const ScriptedDelays delays({{1, 4}, {9, 1}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  script.on_event["0/0.0"] = {send(0, 1), send(1, 1)};
  script.on_event["0/1.0"] = {Finish{}};
  ASSERT_TRUE(simulate(script, delays, {.workers = WorkerKind::kPersistent}));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "1/0.0@4", "1/1.0@5", "0/1.0@10"}));
  EXPECT_EQ(script.waited, (std::vector<double>{0, 0, 3, 0})) << "1/1.0 was sent at 1";
}

TEST(Simulator, APersistentWorkerIsFreeAStopLatencyAfterTheStopOrWhenDoneIfThatIsSooner) {
  const ScriptedDelays delays({{1, 4}, {9, 1}});
  for (const auto& [latency, expected] :
       std::vector<std::pair<double, std::string>>{{0.5, "1/1.0@2.5"}, {50, "1/1.0@5"}}) {
    Script script;
    script.on_event["start"] = {send(0, 0), send(1, 0)};
    script.on_event["0/0.0"] = {stop(1, 0), send(0, 1), send(1, 1)};
    script.on_event["0/1.0"] = {Finish{}};
    ASSERT_TRUE(simulate(
        script, delays, {.workers = WorkerKind::kPersistent, .stop_latency = Seconds{latency}}));
    EXPECT_EQ(script.log, (Log{"0/0.0@1", expected, "0/1.0@10"}));
  }
}

TEST(Simulator, StoppingAQueuedOrderMovesTheOnesBehindItForward) {
  // Worker 1: order of round 0 until 4, of round 1 would run 4...14, of round 2 follows.
  const ScriptedDelays delays({{1, 4}, {1, 10}, {1, 2}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  script.on_event["0/0.0"] = {send(1, 1), send(1, 2), send(0, 1)};
  script.on_event["0/1.0"] = {stop(1, 1)};
  script.on_event["1/2.0"] = {Finish{}};
  ASSERT_TRUE(
      simulate(script, delays, {.workers = WorkerKind::kPersistent, .stop_latency = Seconds{3}}));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "0/1.0@2", "1/0.0@4", "1/2.0@6"}));
  EXPECT_EQ(script.waited, (std::vector<double>{0, 0, 0, 3}));
}

TEST(Simulator, StoppingTheRunningOrderMovesTheOnesBehindItForward) {
  const ScriptedDelays delays({{1, 40}, {1, 2}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0), send(1, 1)};
  script.on_event["0/0.0"] = {stop(1, 0)};
  script.on_event["1/1.0"] = {Finish{}};
  ASSERT_TRUE(simulate(
      script, delays, {.workers = WorkerKind::kPersistent, .stop_latency = Seconds{0.25}}));
  EXPECT_EQ(script.log, (Log{"0/0.0@1", "1/1.0@3.25"}));
}

TEST(Simulator, SaysWhyItStalls) {
  const ScriptedDelays delays({{1, kNever.count()}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  const auto waiting = simulate(script, delays);
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().code, ErrorCode::kFailed);
  EXPECT_EQ(waiting.error().message,
            "stalled at 1 s, after 0 rounds and 0 decoded jobs: 1 outstanding orders will never be "
            "answered");
  Script idle;
  const auto nothing = simulate(idle, delays);
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("no order is outstanding"), std::string::npos);
}

TEST(Simulator, GivesUpWithTheCoordinatorsReason) {
  const ScriptedDelays delays({{1, 1}});
  Script script;
  script.on_event["start"] = {Finish{"too few workers"}};
  const auto result = simulate(script, delays);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "too few workers");
}

TEST(Simulator, RefusesASchemeForMoreWorkersThanThereAreDelays) {
  const ScriptedDelays delays({{1, 1}});
  Script script;
  script.on_event["start"] = {send(2, 0)};
  const auto result = simulate(script, delays);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "an order for worker 2, but the delays are those of 2 workers; allowed: a scheme for "
            "at most 2");
}

TEST(Simulator, ShowsEveryAnswerBeforeTheCoordinatorHearsOfItAndEndsOnAnError) {
  const ScriptedDelays delays({{1, 2}});
  Script script;
  script.on_event["start"] = {send(0, 0), send(1, 0)};
  std::vector<std::size_t> heard;
  const auto on_answer = [&](const Order& order) -> Expected<void> {
    heard.push_back(script.log.size());
    if (order.worker.value == 1) return failed("loss is not finite");
    return {};
  };
  const auto result = simulate(script, delays, {.on_answer = on_answer});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "loss is not finite");
  EXPECT_EQ(heard, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(script.log.size(), 1U);
}

TEST(Simulator, CountsWhatTheCoordinatorReports) {
  const ScriptedDelays delays({{1, 1}});
  RoundRecord record;
  record.busy = 4;
  record.stragglers = WorkerSet(4);
  record.stragglers.insert(WorkerId{2});
  record.waited_out = true;
  RoundRecord idle;
  Decoding whole;
  Decoding instalment;
  instalment.complete = false;
  Script script;
  script.on_event["start"] = {Apply{JobId{0}, ModelId{0}, Version{1}, instalment},
                              Apply{JobId{0}, ModelId{0}, Version{1}, whole},
                              Drop{},
                              record,
                              record,
                              idle,
                              Finish{}};
  int applied = 0, dropped = 0, observed = 0;
  const auto result = simulate(script,
                               delays,
                               {.observer = [&](const RoundRecord&) { ++observed; },
                                .on_apply = [&](const Apply&) -> Expected<void> {
                                  ++applied;
                                  return {};
                                },
                                .on_drop = [&](const Drop&) { ++dropped; }});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->jobs, 1);
  EXPECT_EQ(result->rounds, 2);
  EXPECT_EQ(result->wait_outs, 2);
  EXPECT_EQ(result->mean_stragglers, 1);
  EXPECT_EQ(applied, 2);
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(observed, 3);
}

}  // namespace
}  // namespace paceline
