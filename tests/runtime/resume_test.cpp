// A run that goes on from a saved state ends with the weights of the run that nobody disturbed, bit
// for bit, wherever the same answers count; and which answers count is driven here.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "paceline/continued_coordinator.hpp"
#include "paceline/gradient_code.hpp"
#include "runtime/driven_transport.hpp"
#include "runtime/run_parts.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using test::TrainingRun;

constexpr int kWorkers = 6;
constexpr int kJobs = 12;

/// The workers take turns, and one or two of them straggle beyond the next round in two rounds out
/// of three.
double script(Round round, WorkerId worker) {
  const int turn = (worker.value * 5 + round.value * (round.value + 1)) % kWorkers;
  const bool straggles = round.value % 3 != 2 && turn >= kWorkers - 1 - round.value % 2;
  return 0.01 * turn + (straggles ? 1.4 : 0);
}

Expected<LocalRunResult> drive(Coordinator& coordinator,
                               ModelBank& bank,
                               const std::vector<std::unique_ptr<GradientSource>>& sources,
                               const BatchSampler& sampler,
                               const LocalRunOptions& options) {
  test::DrivenTransport transport(sources, sampler, layout_of(options, sampler), script);
  std::optional<Verifier> verifier;
  return play(coordinator, bank, transport, verifier, options);
}

struct Case {
  std::string scheme;
  bool cancel = true;
  MessageType type = MessageType::kFloat32;

  /// How far weights may be from those of plain gradient descent.
  double rounding() const { return type == MessageType::kFloat32 ? 1e-4 : promised_error(type); }
};

/// By measured ones, which differ from run to run: such a run ends well, with other roundings.
bool plans_by_times(const Case& how) {
  return how.scheme.starts_with("relay") || how.scheme == "clusters:clusters=2,s=1";
}

TrainingRun make_run(const Case& how) {
  TrainingRun run(
      make_scheme(how.scheme,
                  {.workers = kWorkers, .jobs = kJobs, .seed = 5, .message_type = how.type})
          .value());
  run.options.message_type = how.type;
  run.rounds = {.jobs = kJobs,
                .models = std::max(2, run.scheme->info().open_jobs),
                .cancel_stragglers = how.cancel,
                .study_between_rounds = false};
  run.driver = drive;
  return run;
}

/// The states of a run: one per round, and the last one.
std::vector<RunState> states_of(TrainingRun& run) {
  std::vector<RunState> states;
  run.options.checkpoints.due = [](int) { return true; };
  run.options.checkpoints.take = [&](RunState state) { states.push_back(std::move(state)); };
  const auto result = run.go();
  EXPECT_TRUE(result) << result.error().message;
  run.options.checkpoints = {};
  return states;
}

class ResumeOf : public testing::TestWithParam<Case> {};

TEST_P(ResumeOf, EveryStateLeadsToTheSameWeightsBitForBit) {
  TrainingRun whole = make_run(GetParam());
  const std::vector<RunState> states = states_of(whole);
  ASSERT_GE(states.size(), 4U);
  EXPECT_LT(test::distance(whole.weights, whole.expected_weights()), GetParam().rounding());
  const bool timed = plans_by_times(GetParam());
  for (const RunState& state : states) {
    TrainingRun rest = make_run(GetParam());
    rest.options.checkpoints.resume = &state;
    const auto result = rest.go();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->jobs, kJobs);
    if (timed) {
      EXPECT_LT(test::distance(rest.weights, whole.expected_weights()), 1e-4);
      continue;
    }
    EXPECT_EQ(rest.weights, whole.weights) << "after " << state.totals.jobs << " jobs";
    EXPECT_EQ(result->rounds, static_cast<int>(whole.records.size()));
    // Only what was not played yet is played.
    EXPECT_EQ(rest.records.size() + static_cast<std::size_t>(state.totals.rounds),
              whole.records.size());
    for (std::size_t r = 0; r < rest.records.size(); ++r) {
      const RoundRecord& a = rest.records[r];
      const RoundRecord& b = whole.records[static_cast<std::size_t>(state.totals.rounds) + r];
      EXPECT_EQ(a.round, b.round);
      EXPECT_EQ(a.answers.done, b.answers.done);
      EXPECT_EQ(a.started, b.started);
      EXPECT_EQ(a.decoded, b.decoded);
    }
  }
}

TEST_P(ResumeOf, AStateInTheMiddleOfARoundIsAsGood) {
  TrainingRun whole = make_run(GetParam());
  ASSERT_TRUE(whole.go());
  bool held_messages = false;
  for (int left_after = 15; left_after < 42; left_after += 3) {
    TrainingRun first = make_run(GetParam());
    std::atomic<bool> interrupted{false};
    std::optional<RunState> state;
    first.options.interrupted = &interrupted;
    first.options.checkpoints.take = [&](RunState s) { state = std::move(s); };
    int calls = 0;
    first.hook = [&](auto, auto) {
      if (++calls > left_after) interrupted = true;
    };
    const auto ended = first.go();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::kInterrupted);
    ASSERT_TRUE(state);
    EXPECT_LT(state->totals.jobs, kJobs);
    held_messages = held_messages || !state->bank.messages.empty();
    TrainingRun rest = make_run(GetParam());
    rest.options.checkpoints.resume = &*state;
    const auto result = rest.go();
    ASSERT_TRUE(result) << result.error().message;
    if (plans_by_times(GetParam())) {
      EXPECT_LT(test::distance(rest.weights, whole.expected_weights()), 1e-4);
    } else {
      EXPECT_EQ(rest.weights, whole.weights) << "left after " << left_after << " gradients";
    }
  }
  EXPECT_TRUE(held_messages);
}

INSTANTIATE_TEST_SUITE_P(
    Schemes,
    ResumeOf,
    testing::Values(Case{"uncoded"},
                    Case{"gc:s=2,code=repetition"},
                    Case{"gc:s=2,code=repetition", false},
                    Case{"gc:s=1,code=cyclic"},
                    Case{"gc:s=1,code=mds"},
                    Case{"gc:code=short-messages,s=1,m=2"},
                    Case{"partial:r=3"},
                    Case{"partial-gc:s=1,own=2"},
                    Case{"clusters:clusters=2,s=1,candidates=1"},
                    Case{"clusters:clusters=2,s=1"},
                    Case{"gc:s=1,bundle=2"},
                    Case{"sr-sgc:B=1,W=2,lambda=2"},
                    Case{"m-sgc:B=1,W=2,lambda=2"},
                    Case{"m-sgc:B=1,W=2,lambda=2", false},
                    Case{"m-sgc:B=2,W=4,lambda=3"},
                    Case{"gc:s=2,code=repetition", true, MessageType::kFloat16},
                    Case{"gc:s=1,code=mds", true, MessageType::kFloat16},
                    Case{"m-sgc:B=1,W=2,lambda=2", true, MessageType::kBfloat16},
                    Case{"relay:T=1,r0=2"},
                    Case{"relay:T=3,r0=1.5,bundle=2"},
                    Case{"relay:T=1,r0=2,accept_late=1", false}),
    [](const auto& one) {
      std::string name = one.param.scheme + (one.param.cancel ? "" : "late");
      if (one.param.type != MessageType::kFloat32) {
        name += message_type_name(one.param.type);
      }
      std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
      return name;
    });

TEST(Resume, WithInjectedTimesTheLocalTransportGoesOnWhereItWas) {
  // Of the two members of a group the one whose turn it is answers 40 ms before the other.
  const test::ScriptedDelays delays(kWorkers, [](int round, int worker) {
    return (worker / 3 + worker + round * round / 2) % 2 == 0 ? 5.0 : 45.0;
  });
  const auto make = [&] {
    TrainingRun run(kWorkers, 3);
    run.rounds.jobs = kJobs;
    run.options.delays = &delays;
    return run;
  };
  TrainingRun whole = make();
  ASSERT_TRUE(whole.go());
  TrainingRun first = make();
  std::atomic<bool> leaving{false};
  std::optional<RunState> state;
  first.options.checkpoints.leaving = &leaving;
  first.options.checkpoints.take = [&](RunState s) { state = std::move(s); };
  first.options.observer = [&](const RoundReport& report) {
    if (report.record->round.value == 4) leaving = true;
  };
  ASSERT_FALSE(first.go());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->totals.rounds, 5);
  TrainingRun rest = make();
  rest.options.checkpoints.resume = &*state;
  const auto result = rest.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(rest.weights, whole.weights);
  EXPECT_EQ(rest.records.size(), whole.records.size() - 5);
  EXPECT_EQ(rest.records.front().round, Round{5});
}

TEST(Resume, AnOrderGoesOnWaitingWhereItWas) {
  // One round of 400 ms, left after 100 ms: the rest takes 300 ms.
  const test::ScriptedDelays delays(2, [](int, int) { return 400.0; });
  std::atomic<bool> interrupted{false};
  std::optional<RunState> state;
  TrainingRun first(2, 2);
  first.rounds.jobs = 1;
  first.options.delays = &delays;
  first.options.interrupted = &interrupted;
  first.options.checkpoints.take = [&](RunState s) { state = std::move(s); };
  std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupted = true;
  });
  ASSERT_FALSE(first.go());
  ASSERT_TRUE(state);
  TrainingRun rest(2, 2);
  rest.rounds.jobs = 1;
  rest.options.delays = &delays;
  rest.options.checkpoints.resume = &*state;
  const auto begin = std::chrono::steady_clock::now();
  const auto result = rest.go();
  const Seconds took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->total, Seconds(0.4));
  EXPECT_LT(took, Seconds(0.4) - state->now + Seconds(0.1));
}

TEST(Resume, AnOrderThatLayBehindAnOlderOneGoesOnFromWhereItsWorkerTurnedToIt) {
  // Either worker's answer decodes. Worker 1 answers round 0 late, after 300 ms, and only then
  // turns to round 1, which it answers 100 ms later and first. The run is left at 340 ms.
  const test::ScriptedDelays delays(2, [](int round, int worker) {
    if (worker == 0) return round == 0 ? 10.0 : 1000.0;
    return round == 0 ? 300.0 : 100.0;
  });
  const auto make = [&] {
    TrainingRun run(2, 1);
    run.rounds.jobs = 2;
    run.rounds.cancel_stragglers = false;
    run.options.delays = &delays;
    return run;
  };
  TrainingRun first = make();
  std::atomic<bool> interrupted{false};
  std::optional<RunState> state;
  first.options.interrupted = &interrupted;
  first.options.checkpoints.take = [&](RunState s) { state = std::move(s); };
  std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(340));
    interrupted = true;
  });
  ASSERT_FALSE(first.go());
  ASSERT_TRUE(state);
  ASSERT_EQ(state->totals.jobs, 1);
  TrainingRun rest = make();
  rest.options.checkpoints.resume = &*state;
  const auto result = rest.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->total, Seconds(0.399));
  EXPECT_LT(result->total, Seconds(0.5));
  EXPECT_GT(rest.records.back().answers.waited[1], Seconds(0.28));
}

TEST(Resume, AnotherSchemeBeginsWithTheFirstJobThatIsNotDecoded) {
  const Case before{"m-sgc:B=2,W=4,lambda=3"};
  TrainingRun whole = make_run(before);
  for (const RunState& state : states_of(whole)) {
    std::vector<Version> versions;
    for (const auto& model : state.bank.models) versions.push_back(model.version);
    const int first = first_open_job(versions).value;
    if (first >= kJobs) continue;
    TrainingRun other = make_run({"gc:s=2,code=repetition"});
    other.rounds = {.jobs = kJobs - first, .models = whole.rounds.models};
    RunState models_only;
    models_only.bank.models = state.bank.models;
    other.begin_with = models_only.bank;
    auto coordinator =
        continue_jobs(make_round_coordinator(
                          other.scheme->clone(), make_close_policy("eager").value(), other.rounds)
                          .value(),
                      versions);
    const auto result = other.go(*coordinator);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->jobs, kJobs - state.totals.jobs);
    EXPECT_LT(test::distance(other.weights, whole.expected_weights()), 1e-4);
  }
}

TEST(Resume, JobsThatWereDecodedOutOfOrderAreNotDoneAgain) {
  // Four models; job 5 (model 1) is decoded, job 4 (model 0) is not.
  const std::vector<Version> versions = {Version{1}, Version{2}, Version{1}, Version{1}};
  EXPECT_EQ(first_open_job(versions), JobId{4});
  EXPECT_EQ(first_open_job({Version{3}, Version{3}}), JobId{6});
  EXPECT_EQ(first_open_job({Version{3}, Version{2}}), JobId{5});
  TrainingRun run(4, 2);
  auto inner = make_round_coordinator(
      run.scheme->clone(), make_close_policy("eager").value(), {.jobs = 4, .models = 4});
  auto coordinator = continue_jobs(std::move(*inner), versions);
  std::vector<std::string> seen;
  Actions actions = coordinator->start(Seconds(0));
  for (int round = 0; round < 4; ++round) {
    Actions next;
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        const Task& task = send->order.tasks[0];
        const bool computes = !task.row.terms().empty();
        if (send->order.worker.value == 0) {
          seen.push_back(computes ? "compute " + std::to_string(task.job.value) + " reads " +
                                        std::to_string(task.reads.value)
                                  : "nothing");
        }
        auto more = coordinator->on(Arrived{{send->order.worker, send->order.round}}, Seconds(0));
        next.insert(next.end(), more.begin(), more.end());
      }
    }
    for (const Action& action : next) {
      if (const auto* apply = std::get_if<Apply>(&action)) {
        seen.push_back("apply " + std::to_string(apply->job.value) + " makes " +
                       std::to_string(apply->makes.value));
      }
    }
    actions = std::move(next);
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"compute 4 reads 1",
                                      "apply 4 makes 2",
                                      "nothing",
                                      "compute 6 reads 1",
                                      "apply 6 makes 2",
                                      "compute 7 reads 1",
                                      "apply 7 makes 2"}));
}

TEST(Resume, AFinishedRunIsFinished) {
  TrainingRun whole = make_run({"m-sgc:B=1,W=2,lambda=2"});
  const std::vector<RunState> states = states_of(whole);
  ASSERT_TRUE(states.back().finished);
  TrainingRun again = make_run({"m-sgc:B=1,W=2,lambda=2"});
  again.options.checkpoints.resume = &states.back();
  const auto result = again.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(again.weights, whole.weights);
  EXPECT_TRUE(again.records.empty());
}

TEST(Resume, AStateOfAnotherRunIsRefusedInOneLine) {
  TrainingRun whole = make_run({"m-sgc:B=1,W=2,lambda=2"});
  const std::vector<RunState> states = states_of(whole);
  const auto refusal = [&](const Case& how, const RunState& state) {
    TrainingRun other = make_run(how);
    other.options.checkpoints.resume = &state;
    const auto result = other.go();
    return result ? std::string() : result.error().message;
  };
  EXPECT_NE(refusal({"uncoded"}, states[4]).find("the saved state does not fit this run"),
            std::string::npos);
  RunState fewer = states[4];
  fewer.bank.models.pop_back();
  EXPECT_NE(refusal({"m-sgc:B=1,W=2,lambda=2"}, fewer).find("models were saved"),
            std::string::npos);
  RunState lost = states[4];
  lost.bank.models[0].version = Version{7};
  EXPECT_NE(refusal({"m-sgc:B=1,W=2,lambda=2"}, lost).find("saved after 7 updates"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline
