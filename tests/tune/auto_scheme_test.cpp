// A run in virtual time that chooses its own scheme: what it chooses, and that it chooses again
// when the cluster changes and only then.
#include "paceline/auto_scheme.hpp"

#include <gtest/gtest.h>

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
  const SchemeChoice first = AutoScheme::measuring("eager");
  auto switching =
      SwitchingCoordinator::make(
          first, {.workers = kWorkers, .jobs = jobs, .models = kModels, .batch_size = 64})
          .value();
  AutoScheme automatic(kWorkers, jobs);
  Outcome outcome;
  SimulatorOptions options;
  options.workers = WorkerKind::kPersistent;
  options.observer = [&](const RoundRecord& record) {
    const auto wish = automatic.on_round(record, switching->segment_of(record.round));
    if (wish == AutoScheme::Wish::kTune) {
      const AutoChoice choice =
          choose_scheme(automatic.measured(), {.models = kModels, .jobs = 40}).value();
      outcome.choices.push_back(choice);
      automatic.chosen(choice);
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
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
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

TEST(DriftWatch, LooksAtWholeWindows) {
  DriftWatch watch(1, 4);
  for (const double seconds : {1.1, 1.3, 1.1, 1.2}) EXPECT_FALSE(watch.add(Seconds{seconds}));
  for (const double seconds : {9.0, 9.0, 9.0}) EXPECT_FALSE(watch.add(Seconds{seconds}));
  EXPECT_TRUE(watch.add(Seconds{9}));
  for (const double seconds : {0.5, 0.5, 0.5}) EXPECT_FALSE(watch.add(Seconds{seconds}));
  EXPECT_TRUE(watch.add(Seconds{0.5})) << "faster than predicted is a change, too";
  for (const double seconds : {1.0, 9.0, 1.0}) EXPECT_FALSE(watch.add(Seconds{seconds}));
  EXPECT_FALSE(watch.add(Seconds{1})) << "one slow round of four is noise";
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
