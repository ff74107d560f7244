// A run in virtual time that chooses its own scheme: what it chooses, and that it chooses again
// when the cluster changes and only then.
#include "paceline/auto_scheme.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/play.hpp"
#include "paceline/simulator.hpp"

namespace paceline {
namespace {

constexpr int kWorkers = 16;
constexpr int kModels = 4;
constexpr std::uint64_t kSeed = 3;

/// One cluster before round `change`, another one from then on.
class Changing final : public DelaySource {
 public:
  Changing(const std::string& before, const std::string& after, int change, std::uint64_t seed)
      : before_(make_delay_model(before, kWorkers, seed).value()),
        after_(make_delay_model(after, kWorkers, seed).value()),
        change_(change) {}

  int workers() const override { return kWorkers; }

  Delay delay(Round round, WorkerId worker) const override {
    return (round.value < change_ ? before_ : after_)->delay(round, worker);
  }

 private:
  std::unique_ptr<DelaySource> before_;
  std::unique_ptr<DelaySource> after_;
  int change_;
};

struct Outcome {
  std::vector<AutoChoice> choices;
  SimulationResult result;
};

Outcome play_auto(const DelaySource& delays, int jobs) {
  const SchemeChoice first = measuring_choice(kWorkers, kModels, "eager");
  auto switching =
      SwitchingCoordinator::make(
          first,
          {.workers = kWorkers, .jobs = jobs, .models = kModels, .batch_size = 64, .seed = kSeed})
          .value();
  AutoScheme automatic(kWorkers, jobs, first);
  Outcome outcome;
  SimulatorOptions options;
  options.workers = WorkerKind::kPersistent;
  options.observer = [&](const RoundRecord& record) {
    const auto wish = automatic.on_round(record, switching->segment_of(record.round));
    if (wish == AutoScheme::Wish::kTune) {
      const AutoChoice choice =
          choose_scheme(automatic.measured(), {.models = kModels, .jobs = 40, .seed = kSeed})
              .value();
      outcome.choices.push_back(choice);
      automatic.chosen(choice.choice, choice.seconds_per_job);
      EXPECT_TRUE(switching->switch_to(choice.choice));
    } else if (wish == AutoScheme::Wish::kMeasure) {
      EXPECT_TRUE(switching->switch_to(first));
    }
  };
  outcome.result = simulate(*switching, delays, options).value();
  EXPECT_EQ(outcome.result.jobs, jobs);
  return outcome;
}

const char* const kSteady = "constant:base=0.1,slope=2";
const char* const kBursty = "bursty:base=0.1,slope=2,slow=8,bad=0.05,good=0.5";

TEST(AutoScheme, WithoutStragglersItStaysUncoded) {
  const Outcome outcome = play_auto(Changing(kSteady, kSteady, 0, 1), 300);
  ASSERT_EQ(outcome.choices.size(), 1U);
  EXPECT_TRUE(outcome.choices[0].choice.scheme.starts_with("uncoded"));
  EXPECT_EQ(outcome.choices[0].played, static_cast<int>(auto_candidates(kWorkers, kModels).size()));
  EXPECT_NEAR(outcome.choices[0].uncoded_seconds_per_job, 0.1 + 2.0 / kWorkers, 1e-9);
}

TEST(AutoScheme, WithStragglersItIsFasterThanUncoded) {
  const Changing delays(kBursty, kBursty, 0, 2);
  const Outcome outcome = play_auto(delays, 300);
  ASSERT_FALSE(outcome.choices.empty());
  EXPECT_FALSE(outcome.choices[0].choice.scheme.starts_with("uncoded"));
  const Seconds uncoded = play("uncoded", delays, {.jobs = 300}).value().result.total;
  EXPECT_LT(outcome.result.total, 0.7 * uncoded);
}

TEST(AutoScheme, TunesAgainWhenTheClusterChangesAndOnlyThen) {
  int again = 0;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome changed = play_auto(Changing(kSteady, kBursty, 60, seed), 500);
    ASSERT_GE(changed.choices.size(), 2U);
    EXPECT_TRUE(changed.choices[0].choice.scheme.starts_with("uncoded"));
    EXPECT_FALSE(changed.choices[1].choice.scheme.starts_with("uncoded"));
    const char* const noisy = "exponential:base=0.1,slope=2,mean=0.05";
    again += static_cast<int>(play_auto(Changing(noisy, noisy, 0, seed), 500).choices.size()) - 1;
  }
  EXPECT_LE(again, 1) << "a steady cluster is tuned for once";
}

// The rounds that a choice rests on are few. Whether a pair of workers happened to straggle
// together in them must not decide, so predictions hold on rounds that were not measured.
TEST(AutoScheme, PredictsWhatTheChosenSchemeTakesFromThenOn) {
  double log_ratio = 0;
  constexpr int kClusters = 6;
  for (std::uint64_t seed = 0; seed < kClusters; ++seed) {
    const auto delays =
        make_delay_model("bursty:base=0.05,slope=0.3,slow=8,bad=0.05,good=0.5,noise=0.05", 32, seed)
            .value();
    const DelayTable measured = DelayTable::record(*delays, AutoScheme::kMeasuredRounds);
    const AutoChoice choice = choose_scheme(measured, {.models = 1, .seed = kSeed}).value();
    PlayOptions options{.jobs = 400,
                        .close = choice.choice.close,
                        .seed = kSeed,
                        .workers = WorkerKind::kPersistent,
                        .cancel_stragglers = true};
    const double taken = play(choice.choice.scheme, *delays, options).value().result.total.count();
    log_ratio += std::log(taken / options.jobs / choice.seconds_per_job);
  }
  EXPECT_LT(std::abs(log_ratio / kClusters), 0.06);  // 0.07 if workers kept their numbers
}

using Verdict = DriftWatch::Verdict;

/// The verdict on each window of four rounds with one job each.
std::vector<Verdict> verdicts(DriftWatch& watch, const std::vector<double>& seconds) {
  std::vector<Verdict> all;
  for (const double each : seconds) {
    const Verdict verdict = watch.add(Seconds{each}, 1);
    if (verdict != Verdict::kNone) all.push_back(verdict);
  }
  return all;
}

TEST(DriftWatch, LooksAtWholeWindows) {
  DriftWatch watch(1, 4);
  EXPECT_EQ(verdicts(watch, {1.1, 1.3, 1.1, 1.2, 9, 9, 9}), std::vector{Verdict::kAgrees});
  EXPECT_EQ(verdicts(watch, {9}), std::vector{Verdict::kDeparts});
  EXPECT_EQ(verdicts(watch, {0.5, 0.5, 0.5, 0.5}), std::vector{Verdict::kDeparts})
      << "faster than predicted is a change, too";
  EXPECT_EQ(verdicts(watch, {1, 9, 1, 1}), std::vector{Verdict::kAgrees})
      << "one slow round of four is noise";
}

TEST(DriftWatch, CountsTimePerJobHoweverManyJobsARoundDecodes) {
  DriftWatch watch(1, 4);
  Verdict verdict = Verdict::kNone;
  for (const int jobs : {4, 0, 1, 3}) verdict = watch.add(Seconds{1.0 * jobs}, jobs);
  EXPECT_EQ(verdict, Verdict::kAgrees);
}

TEST(DriftWatch, MayBelieveTheRunInsteadOfThePrediction) {
  DriftWatch watch(1, 4);
  EXPECT_EQ(verdicts(watch, {3, 3.1, 3, 3.1}), std::vector{Verdict::kDeparts});
  watch.believe();
  EXPECT_EQ(verdicts(watch, {3, 3, 3.2, 3}), std::vector{Verdict::kAgrees});
  EXPECT_EQ(verdicts(watch, {1, 1, 1, 1}), std::vector{Verdict::kDeparts});
}

/// Rounds that take `seconds` while uncoded is measured, and `chosen` later.
class Told {
 public:
  AutoScheme::Wish rounds(const std::string& scheme, double seconds, int count) {
    auto wish = AutoScheme::Wish::kNothing;
    for (int r = 0; r < count && wish == AutoScheme::Wish::kNothing; ++r) {
      RoundRecord record;
      record.closed = Seconds{seconds};
      record.decoded = {JobId{0}};
      record.answers = Answers(2);
      record.answers.time = {Seconds{seconds}, Seconds{seconds}};
      SwitchingCoordinator::Segment segment{{scheme, "eager"}, {}, Round{0}, JobId{0}};
      segment.info.load = 0.5;
      wish = automatic.on_round(record, segment);
    }
    return wish;
  }

  AutoScheme automatic{2, 100000, {"uncoded"}};
};

TEST(AutoScheme, MeasuresOnceMoreIfItPredictedWrongAndThenBelievesTheRun) {
  using Wish = AutoScheme::Wish;
  Told told;
  const SchemeChoice choice{"gc:groups=1"};
  for (int wrong = 0; wrong < 2; ++wrong) {
    EXPECT_EQ(told.rounds("uncoded", 1, 1000), Wish::kTune);
    told.automatic.chosen(choice, 0.5);
    if (wrong == 0) {
      EXPECT_EQ(told.rounds(choice.scheme, 1, 1000), Wish::kMeasure);
    }
  }
  EXPECT_EQ(told.rounds(choice.scheme, 1, 1000), Wish::kNothing) << "it is as it is";
  EXPECT_EQ(told.rounds(choice.scheme, 2, 2 * AutoScheme::kWindow), Wish::kMeasure) << "a drift";
}

TEST(AutoScheme, MeasuresAgainIfItIsWrongInAnotherWayThanBefore) {
  using Wish = AutoScheme::Wish;
  Told told;
  const SchemeChoice choice{"gc:groups=1"};
  for (const double seconds : {1.0, 4.0, 0.2}) {
    EXPECT_EQ(told.rounds("uncoded", 1, 1000), Wish::kTune);
    told.automatic.chosen(choice, 0.5);
    EXPECT_EQ(told.rounds(choice.scheme, seconds, AutoScheme::kWindow), Wish::kMeasure);
  }
}

TEST(AutoScheme, WatchesWhatItPlaysAlsoIfNothingWasFound) {
  using Wish = AutoScheme::Wish;
  Told told;
  EXPECT_EQ(told.rounds("uncoded", 1, 1000), Wish::kTune);
  told.automatic.found_nothing();
  EXPECT_EQ(told.rounds("uncoded", 1, 1000), Wish::kNothing);
  EXPECT_EQ(told.rounds("uncoded", 2, 2 * AutoScheme::kWindow), Wish::kMeasure);
}

TEST(AutoScheme, SplitsTimesByWhatWorkersComputed) {
  ObservedDelays observed(2);
  Answers answers(2);
  answers.time = {Seconds{3}, Seconds{1}};
  answers.compute = {Seconds{1}, Seconds{2}};  // clocks differ: never more than the whole time
  observed.add(answers, 0.5);
  EXPECT_EQ(observed.delay(Round{0}, WorkerId{0}).base, Seconds{2});
  EXPECT_EQ(observed.delay(Round{0}, WorkerId{0}).per_load, Seconds{2});
  EXPECT_EQ(observed.delay(Round{0}, WorkerId{1}).base, Seconds{0});
}

TEST(AutoScheme, MeasuresWithAsManyJobsPerRoundAsFit) {
  EXPECT_EQ(measuring_choice(16, 4, "eager").scheme, "uncoded:bundle=4");
  EXPECT_EQ(measuring_choice(9, 4, "eager").scheme, "uncoded:bundle=3");
  EXPECT_EQ(measuring_choice(7, 4, "eager").scheme, "uncoded");
  EXPECT_EQ(measuring_choice(2, 4, "eager").scheme, "uncoded:bundle=2");
}

TEST(AutoScheme, CandidatesCanBePlayed) {
  for (const int workers : {1, 2, 5, 64}) {
    for (const int models : {1, 2, 4}) {
      const auto texts = auto_candidates(workers, models);
      ASSERT_FALSE(texts.empty());
      EXPECT_EQ(texts.front(), "uncoded");
      EXPECT_TRUE(texts.back().starts_with("relay") || workers == 1);
    }
  }
}

}  // namespace
}  // namespace paceline
