// Random schemes, random switch points, random answer times: the driver checks that every job is
// decoded once, from messages that were asked for it, on versions that exist.
#include "paceline/switching_coordinator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/driver.hpp"
#include "paceline/close_policy.hpp"
#include "paceline/random.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

using test::Driver;

constexpr int kWorkers = 8;
constexpr int kModels = 6;
constexpr int kJobs = 60;
constexpr int kBatch = 20;  // no multiple of the workers: chunks differ by a sample

const char* const kSchemes[] = {"uncoded",
                                "gc:s=2",
                                "gc:s=2,code=cyclic",
                                "gc:s=2,code=mds",
                                "gc:s=1,bundle=2",
                                "sr-sgc:B=1,W=2,lambda=3",
                                "m-sgc:B=1,W=2,lambda=3",
                                "m-sgc:B=2,W=3,lambda=8",
                                "relay:T=1",
                                "relay:T=3,r0=1"};
const char* const kCloses[] = {"eager", "conforming:mu=0.5", "quantile:q=0.75"};

SwitchOptions options(bool cancel) {
  return {.workers = kWorkers,
          .jobs = kJobs,
          .models = kModels,
          .batch_size = kBatch,
          .seed = 1,
          .cancel_stragglers = cancel};
}

SchemeChoice any_choice(RandomStream& random) {
  SchemeChoice choice{kSchemes[random.below(std::size(kSchemes))], "eager"};
  if (!choice.scheme.starts_with("relay")) choice.close = kCloses[random.below(std::size(kCloses))];
  return choice;
}

Driver::Takes random_times(std::uint64_t seed) {
  return [random = std::make_shared<RandomStream>(seed, "answer times")](const Order& order) {
    double time = 1 + order.load() + static_cast<double>(random->below(4)) / 8;
    if (random->below(6) == 0) time *= 10;
    return Seconds{time};
  };
}

/// Asks for a random scheme at about one event in `every`, as an observer between events would.
class Fickle final : public Coordinator {
 public:
  Fickle(SwitchingCoordinator& inner, std::uint64_t seed, unsigned every)
      : inner_(inner), random_(seed, "switches"), every_(every) {}

  Actions start(Seconds now) override { return inner_.start(now); }

  Actions on(const Event& event, Seconds now) override {
    if (random_.below(every_) == 0) {
      EXPECT_TRUE(inner_.switch_to(any_choice(random_)));
    }
    Actions actions = inner_.on(event, now);
    for (const Action& action : actions) {
      if (const auto* apply = std::get_if<Apply>(&action); apply && apply->sum.complete) {
        EXPECT_TRUE(decoded.insert(apply->job.value).second);
      }
    }
    return actions;
  }

  std::unique_ptr<Coordinator> clone() const override { return nullptr; }

  std::set<int> decoded;

 private:
  SwitchingCoordinator& inner_;
  RandomStream random_;
  unsigned every_;
};

TEST(SwitchingCoordinator, LosesNoJobAndDoublesNoneWhateverTheSchemesAndTheMoments) {
  std::set<std::string> played;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "first");
    auto switching = SwitchingCoordinator::make(any_choice(random), options(seed % 2 == 0)).value();
    Fickle fickle(*switching, seed, 2 + 20 * static_cast<unsigned>(seed % 5));
    Driver driver(fickle, kJobs, kModels, random_times(seed));
    ASSERT_TRUE(driver.run());
    ASSERT_EQ(driver.why, "");
    EXPECT_EQ(fickle.decoded.size(), static_cast<std::size_t>(kJobs));
    EXPECT_EQ(*fickle.decoded.rbegin(), kJobs - 1);
    for (int model = 0; model < kModels; ++model) EXPECT_EQ(driver.version(model), kJobs / kModels);
    const auto& segments = switching->segments();
    EXPECT_GT(segments.size(), 1U);
    for (std::size_t k = 0; k < segments.size(); ++k) {
      played.insert(segments[k].choice.scheme);
      EXPECT_EQ(&switching->segment_of(segments[k].first_round), &segments[k]);
      if (k == 0) continue;
      EXPECT_GT(segments[k].first_job, segments[k - 1].first_job) << "every scheme has its job";
      EXPECT_GT(segments[k].first_round, segments[k - 1].first_round);
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(played.size(), std::size(kSchemes));
}

/// Takes the rows away, so that what is left can be compared.
class WithoutRows final : public Coordinator {
 public:
  explicit WithoutRows(Coordinator& inner) : inner_(inner) {}

  Actions start(Seconds now) override { return stripped(inner_.start(now)); }

  Actions on(const Event& event, Seconds now) override { return stripped(inner_.on(event, now)); }

  std::unique_ptr<Coordinator> clone() const override { return nullptr; }

 private:
  static Actions stripped(Actions actions) {
    for (Action& action : actions) {
      auto* send = std::get_if<Send>(&action);
      if (send == nullptr) continue;
      for (Task& task : send->order.tasks) task.row = Row();
    }
    return actions;
  }

  Coordinator& inner_;
};

TEST(SwitchingCoordinator, WithoutASwitchItAndItsCopiesSayWhatTheSchemeSays) {
  const auto log = [](Coordinator& coordinator) {
    WithoutRows without(coordinator);
    Driver driver(without, kJobs, kModels, random_times(3));
    EXPECT_TRUE(driver.run());
    return driver.log;
  };
  for (const std::string scheme : kSchemes) {
    const SchemeContext context{
        .workers = kWorkers, .jobs = kJobs, .seed = 1, .stops_stragglers = true};
    const auto alone = make_round_coordinator(make_scheme(scheme, context).value(),
                                              make_close_policy("eager").value(),
                                              {.jobs = kJobs, .models = kModels})
                           .value();
    const auto original = SwitchingCoordinator::make({scheme, "eager"}, options(true)).value();
    const auto copy = original->clone();
    const std::string expected = log(*alone);
    EXPECT_TRUE(log(*original) == expected) << scheme;
    EXPECT_TRUE(log(*copy) == expected) << scheme;
  }
}

/// How often the rows of the first round hold each sample.
std::vector<double> weights_per_sample(const Actions& actions) {
  std::vector<double> weight(kBatch, 0);
  for (const Action& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) continue;
    for (const Task& task : send->order.tasks) {
      for (const Term& term : task.row.terms()) {
        for (int k = 0; k < term.count; ++k) {
          weight.at(term.chunk.index() + static_cast<std::size_t>(k)) += term.weight;
        }
      }
    }
  }
  return weight;
}

TEST(SwitchingCoordinator, RowsNameSamples) {
  auto uncoded = SwitchingCoordinator::make({"uncoded", "eager"}, options(true)).value();
  EXPECT_EQ(weights_per_sample(uncoded->start(Seconds{0})), std::vector<double>(kBatch, 1));
  EXPECT_EQ(uncoded->chunk_size().size(), static_cast<std::size_t>(kBatch));
  // Four groups of two workers, who hold the same quarter: every sample twice.
  auto doubled = SwitchingCoordinator::make({"gc:s=1,code=repetition", "eager"}, options(true));
  EXPECT_EQ(weights_per_sample((*doubled)->start(Seconds{0})), std::vector<double>(kBatch, 2));
}

TEST(SwitchingCoordinator, MoreWorkersThanSamplesStillAsksEverybody) {
  SwitchOptions few = options(true);
  few.batch_size = 3;
  auto uncoded = SwitchingCoordinator::make({"uncoded", "eager"}, few).value();
  for (const Send& send : test::only<Send>(uncoded->start(Seconds{0}))) {
    EXPECT_FALSE(send.order.tasks[0].row.terms().empty());
  }
}

TEST(SwitchingCoordinator, RefusesWhatCannotBePlayedAndGoesOn) {
  auto switching = SwitchingCoordinator::make({"uncoded", "eager"}, options(true)).value();
  EXPECT_FALSE(switching->switch_to({"gcc:s=1", "eager"}));
  EXPECT_FALSE(switching->switch_to({"gc:s=1", "eagre"}));
  EXPECT_FALSE(switching->switch_to({"m-sgc:B=2,W=9,lambda=3", "eager"}));  // more than 6 in flight
  EXPECT_FALSE(switching->is_switching());
  Driver driver(*switching, kJobs, kModels, random_times(1));
  EXPECT_TRUE(driver.run());
  EXPECT_EQ(driver.applied, kJobs);
}

}  // namespace
}  // namespace paceline
