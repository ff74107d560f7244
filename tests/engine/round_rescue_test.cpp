// Work that is added in the middle of a round, and answers that come after theirs has closed.
#include <gtest/gtest.h>

#include "engine/actions.hpp"
#include "engine/scripted_scheme.hpp"
#include "paceline/check.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

using namespace test;

Actions arrive(Coordinator& coordinator, int worker, int round, double now, int dispatch = 0) {
  return coordinator.on(Arrived{{WorkerId{worker}, Round{round}, dispatch, Seconds{0.25}}},
                        Seconds{now});
}

/// Worker 0 gets a rescue copy of worker 2's work whenever it has answered everything, `copies`
/// times; the round may close when worker 1 and the last copy have answered.
Script rescue(int copies) {
  Script script = simple_script(3, 3);
  script.more = [copies, running = Round{0}, given = 0](Round round,
                                                        const Answers& answers) mutable {
    if (running != round) given = 0;
    running = round;
    RoundPlan plan;
    if (given == copies || answers.done[0] != 1 + given) return plan;
    ++given;
    plan.per_worker.resize(3);
    plan.per_worker[0].push_back({JobId{round.value}, one_chunk(2), 0.5});
    return plan;
  };
  script.may_close = [copies](Round, const Answers& answers) {
    return answers.done[1] == 1 && answers.done[0] == 1 + copies;
  };
  return script;
}

TEST(RoundRescue, CopiesGoOutUnderNewDispatchAndTaskNumbers) {
  const auto coordinator = make(rescue(2), "eager", {.jobs = 2, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 1, 0, 0.5);
  const Actions first = arrive(*coordinator, 0, 0, 1);
  ASSERT_EQ(kinds(first), "Send");
  const Order copy = only<Send>(first).at(0).order;
  EXPECT_EQ(copy.worker, WorkerId{0});
  EXPECT_EQ(copy.round, Round{0});
  EXPECT_EQ(copy.dispatch, 1);
  ASSERT_EQ(copy.tasks.size(), 1U);
  EXPECT_EQ(copy.tasks[0].id, (MessageId{WorkerId{0}, Round{0}, 1}));
  EXPECT_EQ(copy.tasks[0].row.terms()[0].chunk, ChunkId{2});
  const Order second = only<Send>(arrive(*coordinator, 0, 0, 2, 1)).at(0).order;
  EXPECT_EQ(second.dispatch, 2);
  EXPECT_EQ(second.tasks.at(0).id.task, 2);
  const Actions closed = arrive(*coordinator, 0, 0, 3, 2);
  ASSERT_EQ(kinds(closed), "Stop Apply Drop RoundRecord Send");
  const RoundRecord record = only<RoundRecord>(closed)[0];
  EXPECT_EQ(record.busy, 3);
  EXPECT_EQ(record.answers.done, (std::vector<int>{3, 1, 0}));
  EXPECT_EQ(record.answers.time[0], Seconds{3}) << "of its last answer";
  EXPECT_EQ(record.answers.compute[0], Seconds{0.75}) << "of all of them";
  EXPECT_EQ(record.stragglers.size(), 1);
  EXPECT_EQ(only<Drop>(closed)[0].messages.size(), 5U);
}

TEST(RoundRescue, DispatchNumbersStartAnewInEveryRound) {
  const auto coordinator = make(rescue(1), "eager", {.jobs = 2, .models = 1});
  coordinator->start(Seconds{0});
  for (int round = 0; round < 2; ++round) {
    arrive(*coordinator, 1, round, round + 0.25);
    const Actions sent = arrive(*coordinator, 0, round, round + 0.5);
    ASSERT_EQ(kinds(sent), "Send");
    EXPECT_EQ(only<Send>(sent)[0].order.dispatch, 1);
    EXPECT_EQ(only<RoundRecord>(arrive(*coordinator, 0, round, round + 1, 1)).size(), 1U);
  }
}

TEST(RoundRescue, AWorkerWithACopyIsWaitedForAgain) {
  const auto coordinator = make(rescue(1), "quantile:q=1", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 1, 0, 1);
  arrive(*coordinator, 0, 0, 1);
  EXPECT_TRUE(arrive(*coordinator, 2, 0, 2).empty()) << "the copy is still on its way";
  EXPECT_EQ(kinds(arrive(*coordinator, 0, 0, 3, 1)), "Apply Drop RoundRecord Finish");
}

TEST(RoundRescue, AnUnansweredCopyIsStoppedAndMakesAStraggler) {
  Script script = rescue(1);
  script.may_close = [](Round, const Answers& answers) { return answered(answers) == 3; };
  const auto coordinator = make(script, "eager", {.jobs = 2, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 1);
  const Actions closed = arrive(*coordinator, 2, 0, 2);
  ASSERT_EQ(only<Stop>(closed).size(), 1U);
  EXPECT_EQ(only<Stop>(closed)[0].worker, WorkerId{0});
  EXPECT_TRUE(only<RoundRecord>(closed)[0].stragglers.contains(WorkerId{0}));
  EXPECT_TRUE(arrive(*coordinator, 0, 0, 3, 1).empty());
}

TEST(RoundRescue, CopiesOfJobsThatDoNotExistAreLeftOut) {
  Script script = rescue(1);
  script.more = [](Round round, const Answers& answers) {
    RoundPlan plan;
    if (answers.done[0] != 1) return plan;
    plan.per_worker.resize(3);
    plan.per_worker[0].push_back({JobId{round.value + 5}, one_chunk(2), 0.5});
    return plan;
  };
  const auto coordinator = make(script, "eager", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  EXPECT_TRUE(arrive(*coordinator, 0, 0, 1).empty());
  const Actions end = arrive(*coordinator, 1, 0, 2);
  EXPECT_EQ(kinds(end), "Stop Apply Drop RoundRecord Finish");
  EXPECT_EQ(only<RoundRecord>(end)[0].answers.done[0], 2) << "counts as done";
}

TEST(RoundRescue, OnlyWorkersThatAreDoneMayGetMore) {
  Script script = rescue(1);
  script.more = [](Round, const Answers&) {
    RoundPlan plan;
    plan.per_worker.resize(3);
    plan.per_worker[2].push_back({JobId{0}, one_chunk(1), 0.5});
    return plan;
  };
  const auto coordinator = make(script, "eager", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  EXPECT_THROW(arrive(*coordinator, 0, 0, 1), ContractViolation);
}

TEST(RoundRescue, ALateCopyTellsHowManyTasksAreDone) {
  Script script = rescue(1);
  script.may_close = [](Round, const Answers& answers) { return answered(answers) == 2; };
  std::vector<int> done;
  script.late = [&done](const LateAnswer& answer) {
    done.push_back(answer.done);
    return std::vector<Decoding>{};
  };
  const auto coordinator =
      make(script, "eager", {.jobs = 2, .models = 1, .cancel_stragglers = false});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  arrive(*coordinator, 1, 0, 1);
  const Actions late = arrive(*coordinator, 0, 0, 2, 1);
  EXPECT_EQ(done, std::vector<int>{2});
  EXPECT_EQ(only<Drop>(late).at(0).messages.at(0).task, 1);
}

/// Worker 0 alone closes a round; the job of round t is decoded by worker 1's late answer to it.
Script decoded_late() {
  Script script = simple_script(2, 1);
  script.info.decode_delay = 1;
  script.info.open_jobs = 2;
  script.may_close = [](Round, const Answers& answers) { return answers.done[0] == 1; };
  script.close = [](Round, const Answers&) { return std::vector<Decoding>{}; };
  script.late = [](const LateAnswer& answer) {
    Answers both(2);
    both.done = {1, 1};
    return std::vector<Decoding>{sum_of_answers(JobId{answer.round.value}, answer.round, both)};
  };
  return script;
}

TEST(RoundLate, ALateAnswerMayDecodeAJob) {
  const auto coordinator =
      make(decoded_late(), "eager", {.jobs = 2, .models = 2, .cancel_stragglers = false});
  coordinator->start(Seconds{0});
  EXPECT_EQ(kinds(arrive(*coordinator, 0, 0, 1)), "RoundRecord Send");
  const Actions late = arrive(*coordinator, 1, 0, 2);
  ASSERT_EQ(kinds(late), "Apply Drop");
  EXPECT_EQ(only<Apply>(late)[0].job, JobId{0});
  ASSERT_EQ(only<Drop>(late).size(), 1U);
  EXPECT_EQ(only<Drop>(late)[0].messages.size(), 2U) << "each message once";
}

TEST(RoundLate, AJobDecodedByALateAnswerIsInTheRecordOfTheRunningRound) {
  const auto coordinator =
      make(decoded_late(), "eager", {.jobs = 3, .models = 3, .cancel_stragglers = false});
  coordinator->start(Seconds{0});
  EXPECT_TRUE(only<RoundRecord>(arrive(*coordinator, 0, 0, 1)).at(0).decoded.empty());
  arrive(*coordinator, 1, 0, 2);
  const RoundRecord record = only<RoundRecord>(arrive(*coordinator, 0, 1, 3)).at(0);
  EXPECT_EQ(record.round, Round{1});
  EXPECT_EQ(record.decoded, std::vector<JobId>{JobId{0}});
}

TEST(RoundLate, ALateAnswerMayFinish) {
  Script script = decoded_late();
  script.plan = [](Round) { return one_task_each(2, JobId{0}); };
  const auto twice = make(script, "eager", {.jobs = 1, .models = 2, .cancel_stragglers = false});
  twice->start(Seconds{0});
  arrive(*twice, 0, 0, 1);
  const Actions end = arrive(*twice, 1, 0, 2);
  EXPECT_EQ(kinds(end), "Apply Drop Stop Finish") << "both workers are stopped in round 1";
  EXPECT_EQ(only<Stop>(end).size(), 2U);
  EXPECT_EQ(only<Drop>(end)[0].messages.size(), 4U);
}

// The job's Drop went out when a late answer decoded it; a message for it that comes later in the
// running round would stay for ever.
TEST(RoundLate, MessagesForAJobThatIsDecodedMeanwhileAreDroppedWhenTheyCome) {
  Script script = decoded_late();
  script.plan = [](Round round) {
    return one_task_each(2, JobId{round.value < 2 ? 0 : round.value - 1});
  };
  const auto coordinator =
      make(script, "eager", {.jobs = 2, .models = 2, .cancel_stragglers = false});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);  // round 1 works on job 0 too
  EXPECT_EQ(kinds(arrive(*coordinator, 1, 0, 2)), "Apply Drop");
  const Actions useless = arrive(*coordinator, 1, 1, 3);
  ASSERT_EQ(kinds(useless), "Drop");
  EXPECT_EQ(only<Drop>(useless)[0].messages, (std::vector<MessageId>{{WorkerId{1}, Round{1}, 0}}));
}

}  // namespace
}  // namespace paceline
