// A probe of a known cluster finds it again.
#include "paceline/probe.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paceline/probe_tables.hpp"
#include "paceline/simulator.hpp"

namespace paceline {
namespace {

ProbeTables probe(const ProbePlan& plan, const std::string& model) {
  const auto coordinator = make_probe_coordinator(plan);
  ProbeTables tables(plan);
  SimulatorOptions options;
  options.observer = [&](const RoundRecord& record) { tables.add(record); };
  const auto delays = make_delay_model(model, plan.workers, 7).value();
  EXPECT_TRUE(simulate(*coordinator, *delays, options));
  return tables;
}

TEST(Probe, FindsBaseAndSlopeOfAConstantCluster) {
  const ProbePlan plan =
      plan_probe({.workers = 5, .batch_size = 64, .loads = {0, 0.25, 0.5, 1}, .rounds = 3}).value();
  EXPECT_EQ(plan.loads, (std::vector<double>{1.0 / 64, 0.25, 0.5, 1}));
  EXPECT_EQ(plan.chunk_size, (std::vector<double>{1.0 / 64, 15.0 / 64, 0.25, 0.5, 0}));
  const ProbeTables tables = probe(plan, "constant:base=0.3,slope=2");
  for (const DelayProfile& profile : tables.profiles()) {
    EXPECT_EQ(profile.rounds, 3);
    ASSERT_EQ(profile.seconds.size(), 15U);
    for (const double seconds : profile.seconds)
      EXPECT_NEAR(seconds, 0.3 + 2 * profile.load, 1e-12);
  }
  const LoadLine line = fit_load_line(tables.profiles()).value();
  EXPECT_NEAR(line.intercept, 0.3, 1e-12);
  EXPECT_NEAR(line.slope, 2, 1e-12);
}

TEST(Probe, FindsMeanAndSlopeOfANoisyClusterWithinItsNoise) {
  const ProbePlan plan =
      plan_probe({.workers = 32, .batch_size = 256, .loads = {0, 0.5, 1}, .rounds = 100}).value();
  const ProbeTables tables = probe(plan, "exponential:base=0.2,mean=0.1,slope=1");
  const LoadLine line = fit_load_line(tables.profiles()).value();
  // 9600 times of standard deviation 0.1 at three loads: the slope is known to 0.1 / sqrt(9600/6) =
  // 0.0025, the intercept to 0.1 sqrt(5/2/9600) = 0.0016; four times that is allowed.
  EXPECT_NEAR(line.slope, 1, 0.01);
  EXPECT_NEAR(line.intercept, 0.3, 0.0065);
}

TEST(Probe, WritesWhatItReads) {
  const ProbePlan plan =
      plan_probe({.workers = 3, .batch_size = 3, .loads = {0, 1}, .rounds = 2}).value();
  const DelayProfile written = probe(plan, "lognormal:base=0.1,median=0.3,sigma=1").profiles()[0];
  const DelayProfile read =
      parse_delay_profile(to_wide_csv(written, "what, measured"), "a profile").value();
  EXPECT_EQ(read.rounds, 2);
  EXPECT_EQ(read.workers, 3);
  EXPECT_EQ(read.load, 1.0 / 3);
  for (std::size_t i = 0; i < read.seconds.size(); ++i) {
    EXPECT_NEAR(read.seconds[i], written.seconds[i], 5e-9 * written.seconds[i]);
  }
}

TEST(Probe, AWorkerThatNeverAnswersEndsItByName) {
  const ProbePlan plan =
      plan_probe({.workers = 2, .batch_size = 8, .loads = {1}, .rounds = 4, .patience = Seconds{5}})
          .value();
  const auto coordinator = make_probe_coordinator(plan);
  coordinator->start(Seconds{0});
  coordinator->on(Arrived{{WorkerId{0}, Round{0}, 0, Seconds{0}}}, Seconds{1});
  const Actions actions = coordinator->on(TimerFired{0}, Seconds{5});
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<Stop>(actions[0]).worker, WorkerId{1});
  EXPECT_EQ(std::get<Finish>(actions[1]).why, "round 0: no answer within 5 s from worker 1");
}

TEST(Probe, RefusesWhatCannotBeMeasured) {
  const auto why = [](const ProbeOptions& options) { return plan_probe(options).error().message; };
  EXPECT_EQ(why({.workers = 2, .batch_size = 8, .loads = {1.5}}),
            "load 1.5 is not allowed; 0 <= load <= 1");
  EXPECT_NE(why({.workers = 2, .batch_size = 8, .loads = {0.25, 0.26}}).find("2 of 8 samples"),
            std::string::npos);
  EXPECT_EQ(why({.workers = 0, .batch_size = 8, .loads = {1}}),
            "workers=0 is not allowed; workers >= 1");
}

}  // namespace
}  // namespace paceline
