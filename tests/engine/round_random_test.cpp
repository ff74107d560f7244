// Real schemes, every close policy, random answer times: the driver checks the rules of the
// protocol, and equal seeds give equal actions.
#include <gtest/gtest.h>

#include <memory>

#include "engine/driver.hpp"
#include "paceline/random.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

using test::Driver;

constexpr int kWorkers = 8;

std::unique_ptr<Coordinator> make(const std::string& scheme_text,
                                  const std::string& policy_text,
                                  const RoundOptions& options) {
  auto policy = make_close_policy(policy_text).value();
  const SchemeContext context{
      .workers = kWorkers, .jobs = options.jobs, .rule = policy->rule(), .seed = 1};
  auto scheme = make_scheme(scheme_text, context);
  if (!scheme) throw std::runtime_error(scheme.error().message);
  return make_round_coordinator(*std::move(scheme), std::move(policy), options).value();
}

/// Answer times of 1 s and a little, with stragglers ten times as slow now and then. In multiples
/// of 1/8 s, so that answers often come together.
Driver::Takes random_times(std::uint64_t seed) {
  return [random = std::make_shared<RandomStream>(seed, "answer times")](const Order& order) {
    double time = 1 + order.load() + static_cast<double>(random->below(4)) / 8;
    if (random->below(6) == 0) time *= 10;
    return Seconds{time};
  };
}

const char* const kSchemes[] = {"uncoded",
                                "gc:s=2",
                                "gc:s=2,code=cyclic",
                                "sr-sgc:B=1,W=2,lambda=3",
                                "sr-sgc:B=2,W=3,lambda=3",
                                "m-sgc:B=1,W=2,lambda=3",
                                "m-sgc:B=2,W=4,lambda=2",
                                "gc:s=1,bundle=2"};
const char* const kPolicies[] = {
    "published:mu=0.5", "conforming:mu=0.5", "eager", "quantile:q=0.75"};

TEST(RoundRandom, EverySchemeKeepsTheRulesWithEveryPolicyWhateverTheTimes) {
  constexpr int kJobs = 25;
  constexpr int kModels = 9;
  for (const std::string scheme : kSchemes) {
    for (const std::string policy : kPolicies) {
      for (const bool cancel : {true, false}) {
        for (std::uint64_t seed = 0; seed < 2; ++seed) {
          SCOPED_TRACE(scheme + " " + policy + (cancel ? " cancel " : " late ") +
                       std::to_string(seed));
          const RoundOptions options{.jobs = kJobs, .models = kModels, .cancel_stragglers = cancel};
          const auto coordinator = make(scheme, policy, options);
          Driver driver(*coordinator, kJobs, kModels, random_times(seed));
          ASSERT_TRUE(driver.run());
          EXPECT_EQ(driver.why, "");
          EXPECT_EQ(driver.applied, kJobs);
          int decoded = 0;
          for (const RoundRecord& record : driver.records) {
            decoded += static_cast<int>(record.decoded.size());
          }
          EXPECT_LE(decoded, kJobs);
          for (int model = 0; model < kModels; ++model) {
            EXPECT_EQ(driver.version(model), (kJobs - model + kModels - 1) / kModels);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(RoundRandom, EqualSeedsGiveEqualActions) {
  for (const std::string scheme : kSchemes) {
    const auto log = [&](std::uint64_t seed) {
      const auto coordinator = make(scheme, "conforming:mu=0.5", {.jobs = 15, .models = 9});
      Driver driver(*coordinator, 15, 9, random_times(seed));
      driver.run();
      return driver.log;
    };
    EXPECT_EQ(log(1), log(1));
    EXPECT_NE(log(1), log(2));
  }
}

TEST(RoundRandom, ACopyTakenAtAnyEventContinuesLikeItsOriginal) {
  for (const std::string scheme : kSchemes) {
    const RoundOptions options{.jobs = 8, .models = 9, .cancel_stragglers = false};
    const auto takes = [](const Order& order) {  // depends on the order alone
      RandomStream random(static_cast<std::uint64_t>(order.round.value),
                          "answer",
                          static_cast<std::uint64_t>(order.worker.value));
      return Seconds{1 + (random.below(5) == 0 ? 10 : random.uniform())};
    };
    const auto original = make(scheme, "eager", options);
    Driver whole(*original, options.jobs, options.models, takes);
    ASSERT_TRUE(whole.run());

    // The same run on copies: every event is fed to a fresh copy of the coordinator.
    struct Relay final : Coordinator {
      explicit Relay(std::unique_ptr<Coordinator> first) : current(std::move(first)) {}

      Actions start(Seconds now) override {
        current = current->clone();
        return current->start(now);
      }

      Actions on(const Event& event, Seconds now) override {
        auto copy = current->clone();
        const std::string expected = test::to_text(current->on(event, now));
        Actions actions = copy->on(event, now);
        EXPECT_EQ(test::to_text(actions), expected);
        current = std::move(copy);
        return actions;
      }

      std::unique_ptr<Coordinator> clone() const override { return current->clone(); }

      std::unique_ptr<Coordinator> current;
    };

    Relay copies(make(scheme, "eager", options));
    Driver driver(copies, options.jobs, options.models, takes);
    ASSERT_TRUE(driver.run());
    EXPECT_EQ(driver.log, whole.log);
  }
}

}  // namespace
}  // namespace paceline
