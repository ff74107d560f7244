// The table of jobs in the round coordinator: which jobs exist, whose update they are, rounds
// without work, and schemes that are broken.
#include <gtest/gtest.h>

#include "engine/actions.hpp"
#include "engine/driver.hpp"
#include "engine/scripted_scheme.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

using namespace test;

Actions arrive(Coordinator& coordinator, int worker, int round, double now) {
  return coordinator.on(Arrived{{WorkerId{worker}, Round{round}, 0, Seconds{0}}}, Seconds{now});
}

/// Every worker works on the job of the round before and on that of this round, in this order;
/// the former is decoded when the round closes, the job of round 0 from one task.
Script two_jobs_in_flight(int workers) {
  Script script = simple_script(workers, workers);
  script.info.decode_delay = 1;
  script.info.open_jobs = 2;
  script.plan = [workers](Round round) {
    RoundPlan plan;
    for (int i = 0; i < workers; ++i) {
      std::vector<MiniTask> list;
      if (round.value > 0) list.push_back({JobId{round.value - 1}, one_chunk(i), 0.25});
      list.push_back({JobId{round.value}, one_chunk(i), 0.5});
      plan.per_worker.push_back(list);
    }
    return plan;
  };
  script.may_close = [](Round round, const Answers& answers) {
    const int all = round.value > 0 ? 2 : 1;
    return std::all_of(answers.done.begin(), answers.done.end(), [&](int d) { return d == all; });
  };
  script.close = [](Round round, const Answers& answers) {
    if (round.value == 0) return std::vector<Decoding>{};
    return std::vector<Decoding>{sum_of_answers(JobId{round.value - 1}, round, answers)};
  };
  return script;
}

TEST(RoundJobs, JobTIsUpdateTDivMOfModelTModM) {
  const auto coordinator = make(simple_script(1, 1), "eager", {.jobs = 7, .models = 3});
  Actions actions = coordinator->start(Seconds{0});
  for (int job = 0; job < 7; ++job) {
    const Task task = only<Send>(actions).at(0).order.tasks.at(0);
    EXPECT_EQ(task.job, JobId{job});
    EXPECT_EQ(task.model, ModelId{job % 3});
    EXPECT_EQ(task.reads, Version{job / 3});
    actions = arrive(*coordinator, 0, job, job + 1);
    const Apply apply = only<Apply>(actions).at(0);
    EXPECT_EQ(apply.job, JobId{job});
    EXPECT_EQ(apply.model, ModelId{job % 3});
    EXPECT_EQ(apply.makes, Version{job / 3 + 1});
  }
  EXPECT_EQ(kinds(actions), "Apply Drop RoundRecord Finish");
}

TEST(RoundJobs, WorkOfJobsPastTheLastOneIsLeftOut) {
  const auto coordinator = make(two_jobs_in_flight(1), "eager", {.jobs = 2, .models = 2});
  coordinator->start(Seconds{0});
  Actions actions = arrive(*coordinator, 0, 0, 1);
  EXPECT_EQ(only<Send>(actions).at(0).order.tasks.size(), 2U);
  actions = arrive(*coordinator, 0, 1, 2);
  const Order last = only<Send>(actions).at(0).order;  // of jobs 1 and 2; there is no job 2
  ASSERT_EQ(last.tasks.size(), 1U);
  EXPECT_EQ(last.tasks[0].job, JobId{1});
  EXPECT_DOUBLE_EQ(last.load(), 0.25);
  actions = arrive(*coordinator, 0, 2, 3);
  EXPECT_EQ(kinds(actions), "Apply Drop RoundRecord Finish");
  EXPECT_EQ(only<RoundRecord>(actions)[0].answers.done[0], 2) << "what was left out counts as done";
}

TEST(RoundJobs, WorkOfJobsPastTheLastOneMayBeCharged) {
  const auto coordinator =
      make(two_jobs_in_flight(1), "eager", {.jobs = 2, .models = 2, .charge_missing_jobs = true});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  const Order last = only<Send>(arrive(*coordinator, 0, 1, 2)).at(0).order;
  ASSERT_EQ(last.tasks.size(), 2U);
  EXPECT_EQ(last.tasks[1].job, JobId{2});
  EXPECT_TRUE(last.tasks[1].row.terms().empty()) << "no gradient is computed";
  EXPECT_DOUBLE_EQ(last.load(), 0.75);
  const Actions end = arrive(*coordinator, 0, 2, 3);
  EXPECT_EQ(kinds(end), "Apply Drop RoundRecord Finish");
  const std::vector<MessageId> dropped = only<Drop>(end)[0].messages;
  EXPECT_EQ(dropped,
            (std::vector<MessageId>{{WorkerId{0}, Round{1}, 1}, {WorkerId{0}, Round{2}, 0}}));
}

TEST(RoundJobs, IdleWorkersAreNeitherBusyNorStragglers) {
  Script script = simple_script(3, 2);
  script.plan = [](Round round) {
    RoundPlan plan = one_task_each(3, JobId{round.value});
    plan.per_worker[1].clear();
    plan.per_worker[2][0].job = JobId{round.value + 1};
    return plan;
  };
  script.may_close = [](Round, const Answers& answers) { return answers.done[0] == 1; };
  const auto coordinator = make(script, "published:mu=1", {.jobs = 1, .models = 1});
  const Actions sent = coordinator->start(Seconds{0});
  ASSERT_EQ(only<Send>(sent).size(), 1U) << "worker 2 has only work of a job that does not exist";
  const Actions end = arrive(*coordinator, 0, 0, 1);
  EXPECT_EQ(kinds(end), "Apply Drop RoundRecord Finish") << "nobody else is waited for";
  const RoundRecord record = only<RoundRecord>(end)[0];
  EXPECT_EQ(record.busy, 1);
  EXPECT_EQ(record.stragglers.size(), 0);
  EXPECT_EQ(record.answers.time[1], kNever);
  EXPECT_EQ(record.answers.done, (std::vector<int>{1, 0, 1}));
}

TEST(RoundJobs, RoundsWithoutWorkCostNothing) {
  Script script = simple_script(2, 2);
  script.plan = [](Round round) {
    if (round.value % 3 != 0) return RoundPlan{{{}, {}}};
    return one_task_each(2, JobId{round.value / 3});
  };
  script.close = [](Round round, const Answers& answers) {
    std::vector<Decoding> decodings;
    if (round.value % 3 == 0) {
      decodings.push_back(sum_of_answers(JobId{round.value / 3}, round, answers));
    }
    return decodings;
  };
  script.info.decode_delay = 2;
  const auto coordinator = make(script, "eager", {.jobs = 4, .models = 1});
  Driver driver(*coordinator, 4, 1, [](const Order&) { return Seconds{1}; });
  ASSERT_TRUE(driver.run());
  EXPECT_EQ(driver.why, "");
  ASSERT_EQ(driver.records.size(), 4U) << "no record of a round without work";
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(driver.records[static_cast<std::size_t>(i)].round, Round{3 * i});
    EXPECT_EQ(driver.records[static_cast<std::size_t>(i)].opened, Seconds(i));
  }
}

TEST(RoundJobs, ARoundOfOnlyMissingJobsHasNoWorkEvenIfTheyAreCharged) {
  // Job t is worked on in round t and decoded in round t+2 from what came in round t.
  Script script = simple_script(2, 2);
  script.info.decode_delay = 2;
  script.info.open_jobs = 3;
  script.may_close = [](Round, const Answers&) { return true; };
  script.close = [](Round round, const Answers&) {
    std::vector<Decoding> decodings;
    if (round.value < 2) return decodings;
    Answers all(2);
    all.done = {1, 1};
    decodings.push_back(sum_of_answers(JobId{round.value - 2}, Round{round.value - 2}, all));
    return decodings;
  };
  for (const bool charge : {false, true}) {
    const auto coordinator =
        make(script, "quantile:q=1", {.jobs = 3, .models = 3, .charge_missing_jobs = charge});
    Driver driver(*coordinator, 3, 3, [](const Order&) { return Seconds{1}; });
    ASSERT_TRUE(driver.run());
    EXPECT_EQ(driver.why, "");
    EXPECT_EQ(driver.applied, 3);
    EXPECT_EQ(driver.records.size(), 3U);
  }
}

TEST(RoundJobs, InstalmentsLeaveTheJobOpen) {
  Script script = simple_script(2, 2);
  script.plan = [](Round round) { return one_task_each(2, JobId{round.value / 2}); };
  script.close = [](Round round, const Answers& answers) {
    Decoding decoding = sum_of_answers(JobId{round.value / 2}, round, answers);
    decoding.complete = round.value % 2 == 1;
    return std::vector<Decoding>{decoding};
  };
  const auto coordinator = make(script, "eager", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  const Actions first = arrive(*coordinator, 1, 0, 1);
  EXPECT_EQ(kinds(first), "Apply RoundRecord Send");
  EXPECT_FALSE(only<Apply>(first)[0].sum.complete);
  EXPECT_TRUE(only<RoundRecord>(first)[0].decoded.empty());
  arrive(*coordinator, 0, 1, 2);
  const Actions second = arrive(*coordinator, 1, 1, 2);
  EXPECT_EQ(kinds(second), "Apply Drop RoundRecord Finish");
  EXPECT_EQ(only<Drop>(second)[0].messages.size(), 4U) << "of both rounds";
  EXPECT_TRUE(only<RoundRecord>(second)[0].started.empty()) << "the job is not new";
}

TEST(RoundJobs, DecodingsOfJobsThatDoNotExistAreLeftOut) {
  Script script = simple_script(1, 1);
  script.close = [](Round round, const Answers& answers) {
    return std::vector<Decoding>{sum_of_answers(JobId{round.value}, round, answers),
                                 sum_of_answers(JobId{round.value + 1}, round, answers)};
  };
  const auto coordinator = make(script, "eager", {.jobs = 1, .models = 1});
  coordinator->start(Seconds{0});
  const Actions end = arrive(*coordinator, 0, 0, 1);
  EXPECT_EQ(only<Apply>(end).size(), 1U);
  EXPECT_EQ(only<RoundRecord>(end)[0].decoded, std::vector<JobId>{JobId{0}});
}

TEST(RoundJobs, AJobMayBeDecodedInARoundWithoutWork) {
  Script script = simple_script(1, 1);
  script.info.decode_delay = 1;
  script.info.open_jobs = 2;
  script.close = [](Round round, const Answers&) {
    std::vector<Decoding> decodings;
    if (round.value == 0) return decodings;
    Answers one(1);
    one.done = {1};
    decodings.push_back(sum_of_answers(JobId{round.value - 1}, Round{round.value - 1}, one));
    return decodings;
  };
  const auto coordinator = make(script, "eager", {.jobs = 2, .models = 2});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  const Actions end = arrive(*coordinator, 0, 1, 2);  // then round 2 has no work and decodes job 1
  EXPECT_EQ(kinds(end), "Apply Drop RoundRecord Apply Drop Finish");
}

TEST(RoundJobs, ASchemeThatHasNoWorkForOpenJobsIsGivenUp) {
  Script script = simple_script(2, 2);
  script.plan = [](Round round) {
    return round.value == 0 ? one_task_each(2, JobId{0}) : RoundPlan{{{}, {}}};
  };
  script.close = [](Round, const Answers&) { return std::vector<Decoding>{}; };
  const auto coordinator = make(script, "eager", {.jobs = 3, .models = 1});
  coordinator->start(Seconds{0});
  arrive(*coordinator, 0, 0, 1);
  const Actions end = arrive(*coordinator, 1, 0, 1);
  EXPECT_EQ(kinds(end), "RoundRecord Finish");
  EXPECT_EQ(only<Finish>(end)[0].why,
            "scripted: no work in 10 rounds although 3 of 3 jobs are not decoded");
  EXPECT_TRUE(arrive(*coordinator, 0, 1, 2).empty());
}

TEST(RoundJobs, ASchemeThatCannotCloseAlthoughAllHaveAnsweredIsGivenUp) {
  Script script = simple_script(2, 3);
  for (const char* policy : {"eager", "published", "conforming", "quantile:q=0.5"}) {
    const auto coordinator = make(script, policy, {.jobs = 3, .models = 1});
    coordinator->start(Seconds{0});
    arrive(*coordinator, 0, 0, 1);
    const Actions end = arrive(*coordinator, 1, 0, 1.5);
    EXPECT_EQ(kinds(end), "Finish");
    EXPECT_EQ(only<Finish>(end)[0].why,
              "scripted: round 0 cannot close although every worker has answered");
  }
}

TEST(RoundJobs, ASchemeWhoseRoundsCloseAtOnceForEverIsGivenUp) {
  Script script = simple_script(2, 0);
  script.plan = [](Round) { return one_task_each(2, JobId{0}); };
  script.close = [](Round, const Answers&) { return std::vector<Decoding>{}; };
  const auto coordinator = make(script, "eager", {.jobs = 3, .models = 1});
  const Actions end = coordinator->start(Seconds{0});
  EXPECT_EQ(only<Finish>(end).at(0).why,
            "scripted: 10 rounds closed without an answer although 3 of 3 jobs are not decoded");
}

TEST(RoundJobs, AFewRoundsMayCloseWithoutAnAnswer) {
  Script script = simple_script(2, 2);
  script.plan = [](Round round) { return one_task_each(2, JobId{round.value / 2}); };
  script.may_close = [](Round round, const Answers& answers) {
    return round.value % 2 == 0 || answered(answers) == 2;
  };
  script.close = [](Round round, const Answers& answers) {
    std::vector<Decoding> decodings;
    if (round.value % 2 == 1) {
      decodings.push_back(sum_of_answers(JobId{round.value / 2}, round, answers));
    }
    return decodings;
  };
  const auto coordinator = make(script, "eager", {.jobs = 50, .models = 1});
  Driver driver(*coordinator, 50, 1, [](const Order&) { return Seconds{1}; });
  ASSERT_TRUE(driver.run());
  EXPECT_EQ(driver.why, "");
  EXPECT_EQ(driver.applied, 50);
}

}  // namespace
}  // namespace paceline
