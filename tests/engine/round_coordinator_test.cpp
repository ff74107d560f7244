// The round coordinator and a scripted scheme: what goes out for what comes in, event by event.
#include "paceline/round_coordinator.hpp"

#include <gtest/gtest.h>

#include "engine/actions.hpp"
#include "engine/scripted_scheme.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

using namespace test;

Arrived answer(int worker, int round, int dispatch = 0, double compute = 0) {
  return {{WorkerId{worker}, Round{round}, dispatch, Seconds{compute}}};
}

Actions arrive(Coordinator& coordinator, int worker, int round, double now) {
  return coordinator.on(answer(worker, round), Seconds{now});
}

TEST(RoundCoordinator, StartsWithAnOrderForEveryWorker) {
  const auto coordinator = make(simple_script(3, 2), "eager", {.jobs = 5, .models = 1});
  const Actions actions = coordinator->start(Seconds{10});
  EXPECT_EQ(kinds(actions), "Send");
  const auto sent = only<Send>(actions);
  ASSERT_EQ(sent.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const Order& order = sent[static_cast<std::size_t>(i)].order;
    EXPECT_EQ(order.worker, WorkerId{i});
    EXPECT_EQ(order.round, Round{0});
    EXPECT_EQ(order.dispatch, 0);
    EXPECT_DOUBLE_EQ(order.load(), 1.0 / 3);
    ASSERT_EQ(order.tasks.size(), 1U);
    EXPECT_EQ(order.tasks[0].id, (MessageId{WorkerId{i}, Round{0}, 0}));
    EXPECT_EQ(order.tasks[0].job, JobId{0});
    EXPECT_EQ(order.tasks[0].reads, Version{0});
    EXPECT_EQ(order.tasks[0].row.terms()[0].chunk, ChunkId{i});
  }
}

TEST(RoundCoordinator, StopsThenAppliesThenDropsThenRecordsThenSends) {
  const auto coordinator = make(simple_script(3, 2), "eager", {.jobs = 2, .models = 1});
  coordinator->start(Seconds{0});
  EXPECT_TRUE(arrive(*coordinator, 2, 0, 1).empty());
  const Actions actions = arrive(*coordinator, 0, 0, 2);
  EXPECT_EQ(kinds(actions), "Stop Apply Drop RoundRecord Send");
  const auto stopped = only<Stop>(actions);
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0].worker, WorkerId{1});
  EXPECT_EQ(stopped[0].round, Round{0});
  const Apply apply = only<Apply>(actions).at(0);
  EXPECT_EQ(apply.job, JobId{0});
  EXPECT_EQ(apply.makes, Version{1});
  EXPECT_EQ(apply.sum.terms.size(), 2U);
  EXPECT_EQ(only<Drop>(actions).at(0).messages.size(), 3U) << "all that were asked for";
  for (const Send& send : only<Send>(actions)) {
    EXPECT_EQ(send.order.round, Round{1});
    EXPECT_EQ(send.order.tasks.at(0).reads, Version{1});
  }
}

TEST(RoundCoordinator, FinishesWithTheLastJob) {
  const auto coordinator = make(simple_script(3, 2), "eager", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 1, 0, 1);
  const Actions actions = arrive(*coordinator, 0, 0, 2);
  EXPECT_EQ(kinds(actions), "Stop Apply Drop RoundRecord Finish");
  EXPECT_EQ(only<Finish>(actions).at(0).why, "");
  EXPECT_TRUE(arrive(*coordinator, 2, 0, 3).empty()) << "nothing comes after the end";
  EXPECT_TRUE(coordinator->on(TimerFired{0}, Seconds{4}).empty());
}

TEST(RoundCoordinator, RecordsTheRound) {
  const auto coordinator = make(simple_script(4, 3), "eager", {.jobs = 3, .models = 1});
  coordinator->start(Seconds{10});
  coordinator->on(answer(2, 0, 0, 0.25), Seconds{11});
  coordinator->on(answer(0, 0, 0, 0.5), Seconds{12});
  const Actions actions = coordinator->on(answer(3, 0), Seconds{14});
  const RoundRecord record = only<RoundRecord>(actions).at(0);
  EXPECT_EQ(record.round, Round{0});
  EXPECT_EQ(record.opened, Seconds{10});
  EXPECT_EQ(record.closed, Seconds{14});
  EXPECT_EQ(record.busy, 4);
  EXPECT_EQ(record.stragglers.size(), 1);
  EXPECT_TRUE(record.stragglers.contains(WorkerId{1}));
  EXPECT_EQ(record.answers.done, (std::vector<int>{1, 0, 1, 1}));
  EXPECT_EQ(record.answers.time,
            (std::vector<Seconds>{Seconds{2}, kNever, Seconds{1}, Seconds{4}}));
  EXPECT_EQ(record.answers.compute,
            (std::vector<Seconds>{Seconds{0.5}, Seconds{0}, Seconds{0.25}, Seconds{0}}));
  EXPECT_EQ(record.started, std::vector<JobId>{JobId{0}});
  EXPECT_EQ(record.decoded, std::vector<JobId>{JobId{0}});
  EXPECT_FALSE(record.waited_out);
}

TEST(RoundCoordinator, AnswersOfStoppedWorkersAreIgnored) {
  const auto coordinator = make(simple_script(3, 2), "eager", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 1);
  EXPECT_TRUE(arrive(*coordinator, 2, 0, 1.5).empty());
  EXPECT_TRUE(arrive(*coordinator, 0, 0, 1.5).empty()) << "answered already";
  EXPECT_TRUE(arrive(*coordinator, 0, 7, 1.5).empty()) << "a round to come";
  EXPECT_TRUE(coordinator->on(answer(0, 1, 3), Seconds{1.5}).empty()) << "no such dispatch";
  EXPECT_TRUE(arrive(*coordinator, 0, 1, 2).empty());
  EXPECT_EQ(kinds(arrive(*coordinator, 2, 1, 2)), "Stop Apply Drop RoundRecord Send");
}

TEST(RoundCoordinator, AnAnswerFromNobodyIsABugOfTheDriver) {
  const auto coordinator = make(simple_script(3, 2), "eager", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  EXPECT_THROW(arrive(*coordinator, 3, 0, 1), ContractViolation);
  EXPECT_THROW(arrive(*coordinator, -1, 0, 1), ContractViolation);
}

TEST(RoundCoordinator, StaleTimersAreIgnored) {
  const auto coordinator = make(simple_script(3, 2), "published:mu=1", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  const Actions first = arrive(*coordinator, 0, 0, 1);
  EXPECT_EQ(kinds(first), "Arm");
  EXPECT_EQ(only<Arm>(first)[0].at, Seconds{2});
  EXPECT_TRUE(arrive(*coordinator, 1, 0, 1.5).empty()) << "the same timer is armed once";
  EXPECT_EQ(kinds(arrive(*coordinator, 2, 0, 1.75)), "Apply Drop RoundRecord Send");
  EXPECT_TRUE(coordinator->on(TimerFired{0}, Seconds{2}).empty());
  EXPECT_EQ(only<Arm>(arrive(*coordinator, 0, 1, 2.25))[0].at, Seconds{2.75});
}

TEST(RoundCoordinator, ATimerClosesTheRound) {
  const auto coordinator = make(simple_script(3, 2), "published:mu=1", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{5});
  const Actions armed = arrive(*coordinator, 0, 0, 6);
  arrive(*coordinator, 1, 0, 6.5);
  const Arm arm = only<Arm>(armed).at(0);
  EXPECT_EQ(arm.at, Seconds{7});
  const Actions actions = coordinator->on(TimerFired{arm.timer}, arm.at);
  EXPECT_EQ(kinds(actions), "Stop Apply Drop RoundRecord Send");
  EXPECT_EQ(only<RoundRecord>(actions)[0].closed, Seconds{7});
}

TEST(RoundCoordinator, ARoundThatCannotCloseAtTheCutoffWaitsForAll) {
  const auto coordinator = make(simple_script(4, 3), "published:mu=1", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 1.5);
  EXPECT_TRUE(coordinator->on(TimerFired{0}, Seconds{2}).empty());
  EXPECT_TRUE(arrive(*coordinator, 2, 0, 3).empty()) << "it could close now";
  const Actions actions = arrive(*coordinator, 3, 0, 9);
  const RoundRecord record = only<RoundRecord>(actions).at(0);
  EXPECT_TRUE(record.waited_out);
  EXPECT_EQ(record.stragglers.size(), 0);
}

// A worker is a straggler if it takes longer than (1+mu) times the fastest: one that takes exactly
// so long is none, however many of them there are.
TEST(RoundCoordinator, AllAnswersAtTheVeryCutoffCount) {
  const auto coordinator = make(simple_script(5, 4), "published:mu=1", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  for (const int worker : {1, 2, 3}) EXPECT_TRUE(arrive(*coordinator, worker, 0, 2).empty());
  const Actions actions = coordinator->on(TimerFired{0}, Seconds{2});
  ASSERT_EQ(kinds(actions), "Stop Apply Drop RoundRecord Send");
  const RoundRecord record = only<RoundRecord>(actions)[0];
  EXPECT_FALSE(record.waited_out);
  EXPECT_EQ(record.stragglers.size(), 1);
}

TEST(RoundCoordinator, TheLastAnswerAtTheVeryCutoffClosesTheRound) {
  const auto coordinator = make(simple_script(3, 2), "published:mu=1", {.jobs = 9, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 2);
  EXPECT_EQ(kinds(arrive(*coordinator, 2, 0, 2)), "Apply Drop RoundRecord Send");
}

TEST(RoundCoordinator, StragglersMayGoOnAndAnswerLate) {
  Script script = simple_script(3, 2);
  std::vector<std::string> heard;
  script.late = [&heard](const LateAnswer& answer) {
    std::ostringstream text;
    text << "round " << answer.round.value << " worker " << answer.worker.value << " done "
         << answer.done << " took " << answer.took.count() << " compute " << answer.compute.count()
         << " waited " << answer.waited.count();
    heard.push_back(text.str());
    return std::vector<Decoding>{};
  };
  const auto coordinator =
      make(script, "eager", {.jobs = 2, .models = 1, .cancel_stragglers = false});
  coordinator->start(Seconds{10});
  arrive(*coordinator, 0, 0, 11);
  EXPECT_EQ(kinds(arrive(*coordinator, 1, 0, 12)), "Apply Drop RoundRecord Send") << "no Stop";
  Arrived third = answer(2, 0, 0, 0.75);
  third.result.waited = Seconds{0.5};
  const Actions late = coordinator->on(third, Seconds{15});
  EXPECT_EQ(heard,
            std::vector<std::string>{"round 0 worker 2 done 1 took 5 compute 0.75 waited 0.5"});
  EXPECT_EQ(kinds(late), "Drop") << "its job is decoded: nobody needs it";
  EXPECT_EQ(only<Drop>(late)[0].messages, (std::vector<MessageId>{{WorkerId{2}, Round{0}, 0}}));
  arrive(*coordinator, 0, 1, 16);
  const Actions end = arrive(*coordinator, 2, 1, 17);
  EXPECT_EQ(kinds(end), "Stop Apply Drop RoundRecord Finish") << "at the end all are stopped";
  EXPECT_EQ(only<Stop>(end)[0].worker, WorkerId{1});
}

TEST(RoundCoordinator, AtTheEndEveryRoundOfAWorkerIsStopped) {
  const auto coordinator =
      make(simple_script(3, 2), "eager", {.jobs = 2, .models = 1, .cancel_stragglers = false});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 2);
  arrive(*coordinator, 0, 1, 3);
  const auto stopped = only<Stop>(arrive(*coordinator, 1, 1, 4));
  ASSERT_EQ(stopped.size(), 2U);
  EXPECT_EQ(stopped[0].worker, WorkerId{2});
  EXPECT_EQ(stopped[0].round, Round{0});
  EXPECT_EQ(stopped[1].round, Round{1});
}

TEST(RoundCoordinator, ACopyContinuesLikeItsOriginal) {
  const auto original = make(simple_script(4, 3), "published:mu=0.5", {.jobs = 4, .models = 2});
  original->start(Seconds{0});
  arrive(*original, 2, 0, 1);
  arrive(*original, 1, 0, 1.25);
  const auto copy = original->clone();
  const auto play_on = [](Coordinator& coordinator) {
    std::string log = to_text(coordinator.on(TimerFired{0}, Seconds{1.5}));
    for (int round = 0; round < 4; ++round) {
      for (const int worker : {3, 0, 2, 1}) {
        log += to_text(arrive(coordinator, worker, round, 2 + 4.0 * round + worker));
        log += to_text(coordinator.on(TimerFired{round}, Seconds{6 + 4.0 * round}));
      }
    }
    return log;
  };
  const std::string log = play_on(*original);
  EXPECT_NE(log.find("finish ''"), std::string::npos);
  EXPECT_EQ(play_on(*copy), log);
}

TEST(RoundCoordinator, WrongOptionsAreRefused) {
  const auto error = [](int jobs, int models) {
    Script script = simple_script(4, 4);
    script.info.open_jobs = 3;
    script.info.decode_delay = 2;
    script.info.parameters = "B=1";
    const auto made = make_round_coordinator(make_scripted(script),
                                             make_close_policy("eager").value(),
                                             {.jobs = jobs, .models = models});
    return made ? std::string("no error") : made.error().message;
  };
  EXPECT_EQ(error(0, 3), "jobs=0 is not allowed; jobs >= 1");
  EXPECT_EQ(error(-2, 3), "jobs=-2 is not allowed; jobs >= 1");
  EXPECT_EQ(error(5, 2),
            "models=2 is too few: scripted:B=1 keeps 3 jobs in flight (decode delay 2), and each "
            "needs a model of its own; models >= 3");
  EXPECT_EQ(error(1, 3), "no error");
}

TEST(RoundCoordinator, NeedsASchemeAndAPolicy) {
  EXPECT_THROW(static_cast<void>(make_round_coordinator(
                   nullptr, make_close_policy("eager").value(), {.jobs = 1, .models = 1})),
               ContractViolation);
  EXPECT_THROW(static_cast<void>(make_round_coordinator(
                   make_scripted(simple_script(1, 1)), nullptr, {.jobs = 1, .models = 1})),
               ContractViolation);
}

}  // namespace
}  // namespace paceline
