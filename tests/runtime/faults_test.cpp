// Workers that stop, die, answer late, twice, not at all, or nonsense: the run goes on, says so,
// and ends with the weights that it would have had.
#include "paceline/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using test::TrainingRun;

constexpr int kWorkers = 6;

std::vector<Fault> faults(const std::vector<std::string>& texts, int rounds = 200) {
  auto parsed = parse_faults(texts, kWorkers, rounds);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : std::vector<Fault>();
}

std::string refusal(const std::string& text) {
  const std::vector<std::string> texts = {text};
  const auto parsed = parse_faults(texts, kWorkers, 100);
  return parsed ? std::string() : parsed.error().message;
}

TEST(Faults, AreReadFromText) {
  const auto read = faults({"stop:worker=3,at=20,for=30",
                            "kill:worker=0,at=5",
                            "slow:worker=1,at=0,for=2,by=4",
                            "nan:worker=5,at=7"});
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0], (Fault{FaultKind::kStop, WorkerId{3}, Round{20}, 30}));
  EXPECT_EQ(read[1], (Fault{FaultKind::kKill, WorkerId{0}, Round{5}, 10}));
  EXPECT_EQ(read[2], (Fault{FaultKind::kSlow, WorkerId{1}, Round{0}, 2, 4}));
  EXPECT_EQ(read[3], (Fault{FaultKind::kNan, WorkerId{5}, Round{7}}));
  EXPECT_EQ(read[2].text(), "slow:worker=1,at=0,for=2,by=4");
  EXPECT_EQ(faults({read[0].text()})[0], read[0]);
}

TEST(Faults, RandomOnesAreOfEveryKindAndTheSameForTheSameSeed) {
  const auto drawn = faults({"random:count=20,seed=4"}, 50);
  ASSERT_EQ(drawn.size(), 20U);
  for (int kind = 0; kind < 7; ++kind) {
    EXPECT_GE(std::ranges::count_if(
                  drawn, [&](const Fault& f) { return static_cast<int>(f.kind) == kind; }),
              2);
  }
  for (const Fault& fault : drawn) {
    EXPECT_LT(fault.at.value, 50);
    EXPECT_LT(fault.worker.value, kWorkers);
  }
  EXPECT_EQ(drawn, faults({"random:count=20,seed=4"}, 50));
  EXPECT_NE(drawn, faults({"random:count=20,seed=5"}, 50));
}

TEST(Faults, WrongTextsAreErrorsThatNameWhatIsAllowed) {
  EXPECT_NE(refusal("kil:worker=1,at=1").find("did you mean 'kill'"), std::string::npos);
  EXPECT_NE(refusal("stop:worker=6,at=1,for=1").find("6"), std::string::npos);
  EXPECT_NE(refusal("stop:worker=1,at=1").find("for"), std::string::npos);
  EXPECT_NE(refusal("nan:worker=1,at=1,for=2").find("for"), std::string::npos);
  EXPECT_NE(refusal("random:seed=1").find("count"), std::string::npos);
}

struct Told {
  std::vector<FaultReport> reports;

  int count(const std::string& text) const {
    return static_cast<int>(std::ranges::count_if(reports, [&](const FaultReport& report) {
      return report.what.find(text) != std::string::npos;
    }));
  }
};

/// A run in which everybody is needed: each fault has to be made good.
struct Outcome {
  LocalRunResult result;
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<float>> undisturbed;
  std::vector<std::vector<float>> expected;
  Told told;
};

Outcome play(const std::string& scheme, const std::vector<Fault>& planned, int jobs) {
  Outcome outcome;
  const auto make = [&] {
    TrainingRun run(make_scheme(scheme, {.workers = kWorkers, .jobs = jobs, .seed = 5}).value());
    run.rounds = {.jobs = jobs, .models = std::max(2, run.scheme->info().open_jobs)};
    return run;
  };
  TrainingRun calm = make();
  EXPECT_TRUE(calm.go());
  outcome.undisturbed = calm.weights;
  outcome.expected = calm.expected_weights();
  TrainingRun run = make();
  run.options.faults = planned;
  run.options.on_fault = [&](const FaultReport& report) { outcome.told.reports.push_back(report); };
  const auto result = run.go();
  EXPECT_TRUE(result) << result.error().message;
  if (result) outcome.result = *result;
  outcome.weights = run.weights;
  return outcome;
}

TEST(Faults, EachOneIsMadeGoodWhereEverybodyIsNeeded) {
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"stop:worker=3,at=2,for=3", "is stopped until round 5"},
           {"kill:worker=3,at=2,for=4", "is killed, and not replaced until round 6"},
           {"slow:worker=3,at=2,for=1,by=3", "answers 3 times later"},
           {"corrupt:worker=3,at=2", "arrives damaged: discarded"},
           {"nan:worker=3,at=2", "not finite (NaN or infinity): discarded"},
           {"drop:worker=3,at=2", "is lost"},
           {"duplicate:worker=3,at=2", "comes twice"}}) {
    const Outcome outcome = play("uncoded", faults({text}), 10);
    EXPECT_EQ(outcome.weights, outcome.undisturbed) << text;
    EXPECT_EQ(outcome.result.injected, 1) << text;
    EXPECT_EQ(outcome.told.count(said), 1) << text;
    for (const FaultReport& report : outcome.told.reports) EXPECT_EQ(report.worker, WorkerId{3});
    const bool late_or_double = text.starts_with("slow") || text.starts_with("dup");
    const int again = text.starts_with("stop") ? 3 : text.starts_with("kill") ? 4 : 1;
    EXPECT_EQ(outcome.result.asked_again, late_or_double ? 0 : again) << text;
  }
}

TEST(Faults, ACodeMakesThemGoodByItself) {
  const Outcome outcome = play(
      "gc:s=2,code=repetition", faults({"kill:worker=3,at=0,for=100", "nan:worker=1,at=3"}), 12);
  EXPECT_LT(test::distance(outcome.weights, outcome.expected), 1e-4);
  EXPECT_EQ(outcome.result.asked_again, 0);
}

TEST(Faults, ANumberThatIsNoneIsAskedForOnceMoreAndThenEndsTheRun) {
  TrainingRun run(4, 4);
  int calls = 0;
  run.options.compute_slots = 1;
  run.hook = [&](std::span<const int> samples, std::span<float> out) {
    if (samples[0] == 6 && ++calls == 1) out[0] = std::numeric_limits<float>::infinity();
  };
  Told told;
  run.options.on_fault = [&](const FaultReport& report) { told.reports.push_back(report); };
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->discarded, 1);
  EXPECT_EQ(result->asked_again, 1);
  EXPECT_EQ(told.count("discarded"), 1);
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
}

TEST(Chaos, TwentyFaultsOfAllKindsLeaveNoTraceWhereEverybodyIsNeeded) {
  const Outcome outcome = play("uncoded", faults({"random:count=20,seed=1"}), 200);
  EXPECT_EQ(outcome.weights, outcome.undisturbed);  // bit for bit
  EXPECT_EQ(outcome.result.jobs, 200);
  EXPECT_EQ(outcome.result.injected, 20);
  EXPECT_GE(outcome.result.discarded, 5);
  EXPECT_GE(outcome.result.asked_again, 10);
}

TEST(Chaos, TwentyFaultsOfAllKindsAreWithinTheDecodeBoundOfEveryScheme) {
  for (const char* scheme : {"gc:s=2,code=repetition",
                             "gc:s=1,code=cyclic",
                             "sr-sgc:B=1,W=2,lambda=2",
                             "m-sgc:B=1,W=2,lambda=2",
                             "relay:T=3,r0=1.5"}) {
    const Outcome outcome = play(scheme, faults({"random:count=20,seed=2,rounds=190"}), 200);
    EXPECT_EQ(outcome.result.jobs, 200) << scheme;
    EXPECT_LT(test::distance(outcome.weights, outcome.expected), 1e-3) << scheme;
    EXPECT_GE(outcome.result.injected, 10) << scheme;
  }
}

TEST(Chaos, FaultsBeforeACheckpointDoNotHappenAgain) {
  const std::vector<Fault> planned = faults({"random:count=20,seed=1,rounds=40"});
  const auto make = [&] {
    TrainingRun run(make_scheme("uncoded", {.workers = kWorkers, .jobs = 60}).value());
    run.rounds = {.jobs = 60, .models = 2};
    run.options.faults = planned;
    return run;
  };
  TrainingRun whole = make();
  std::vector<RunState> states;
  whole.options.checkpoints.due = [](int jobs) { return jobs == 50; };
  whole.options.checkpoints.take = [&](RunState state) { states.push_back(std::move(state)); };
  ASSERT_TRUE(whole.go());
  ASSERT_FALSE(states.empty());
  TrainingRun rest = make();
  rest.options.checkpoints.resume = &states.front();
  const auto result = rest.go();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->injected, 0);
  EXPECT_EQ(rest.weights, whole.weights);
}

}  // namespace
}  // namespace paceline
