#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "paceline/delays.hpp"

namespace paceline {
namespace {

constexpr int kRounds = 4000;

std::unique_ptr<DelaySource> model(const std::string& text,
                                   int workers = 16,
                                   std::uint64_t seed = 1) {
  auto made = make_delay_model(text, workers, seed);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

double base(const DelaySource& delays, int round, int worker) {
  return delays.delay(Round{round}, WorkerId{worker}).base.count();
}

double mean_base(const DelaySource& delays) {
  double sum = 0;
  for (int r = 0; r < kRounds; ++r) {
    for (int i = 0; i < delays.workers(); ++i) sum += base(delays, r, i);
  }
  return sum / kRounds / delays.workers();
}

TEST(DelayModel, ConstantIsConstant) {
  const auto delays = model("constant:base=0.25,slope=2");
  for (int i = 0; i < 16; ++i) {
    const Delay delay = delays->delay(Round{i}, WorkerId{i});
    EXPECT_EQ(delay.base.count(), 0.25);
    EXPECT_EQ(delay.at(0.5).count(), 1.25);
  }
}

// 64,000 draws: a relative error of the mean of 0.004 times its coefficient of variation.
TEST(DelayModel, MeansAgreeWithTheirFormulas) {
  EXPECT_NEAR(mean_base(*model("exponential:base=1,mean=0.5")), 1 + 0.5, 0.01);
  EXPECT_NEAR(mean_base(*model("pareto:base=1,scale=0.2,shape=3")), 1 + 0.2 * 3 / 2, 0.005);
  EXPECT_NEAR(
      mean_base(*model("lognormal:base=1,median=0.5,sigma=0.8")), 1 + 0.5 * std::exp(0.32), 0.015);
  // bad / (bad + good) of the rounds are slow
  EXPECT_NEAR(
      mean_base(*model("bursty:base=1,slow=5,bad=0.05,good=0.4")), 1 + 4 * 0.05 / 0.45, 0.02);
  EXPECT_NEAR(mean_base(*model("bursty:base=1,slow=5,bad=0.05,good=0.4,noise=0.5")),
              1.5 * (1 + 4 * 0.05 / 0.45),
              0.04);
}

TEST(DelayModel, TailsAgreeWithTheirFormulas) {
  const auto exponential = model("exponential:base=0,mean=1");
  const auto pareto = model("pareto:base=0,scale=1,shape=2");
  const auto lognormal = model("lognormal:base=0,median=1,sigma=1");
  int above_exponential = 0, above_pareto = 0, above_lognormal = 0;
  for (int r = 0; r < kRounds; ++r) {
    for (int i = 0; i < 16; ++i) {
      above_exponential += base(*exponential, r, i) > 2 ? 1 : 0;
      above_pareto += base(*pareto, r, i) > 2 ? 1 : 0;
      above_lognormal += base(*lognormal, r, i) > 2 ? 1 : 0;
      EXPECT_GE(base(*pareto, r, i), 1);
    }
  }
  const double draws = 16.0 * kRounds;
  EXPECT_NEAR(above_exponential / draws, std::exp(-2.0), 0.006);
  EXPECT_NEAR(above_pareto / draws, 0.25, 0.008);
  EXPECT_NEAR(above_lognormal / draws, 0.5 * std::erfc(std::log(2.0) / std::sqrt(2.0)), 0.008);
}

struct Transitions {
  double good_to_bad = 0;
  double bad_to_good = 0;
};

Transitions measured_transitions(const DelaySource& delays) {
  int good = 0, bad = 0, turned_bad = 0, turned_good = 0;
  for (int i = 0; i < delays.workers(); ++i) {
    for (int r = 1; r < kRounds; ++r) {
      const bool before = base(delays, r - 1, i) > 1;
      const bool now = base(delays, r, i) > 1;
      (before ? bad : good) += 1;
      turned_bad += !before && now ? 1 : 0;
      turned_good += before && !now ? 1 : 0;
    }
  }
  return {turned_bad / static_cast<double>(good), turned_good / static_cast<double>(bad)};
}

TEST(DelayModel, BurstsBeginAndEndWithTheirProbabilities) {
  const Transitions sticky = measured_transitions(*model("bursty:base=1,slow=5,bad=0.05,good=0.4"));
  EXPECT_NEAR(sticky.good_to_bad, 0.05, 0.004);
  EXPECT_NEAR(sticky.bad_to_good, 0.4, 0.02);
  // bad + good > 1: a state rather turns than stays
  const Transitions lively = measured_transitions(*model("bursty:base=1,slow=5,bad=0.7,good=0.9"));
  EXPECT_NEAR(lively.good_to_bad, 0.7, 0.01);
  EXPECT_NEAR(lively.bad_to_good, 0.9, 0.01);
}

TEST(DelayModel, BurstsAtTheEdgesOfTheirRange) {
  const auto never = model("bursty:base=1,slow=5,bad=0,good=0");
  const auto always = model("bursty:base=1,slow=5,bad=0.2,good=0");
  const auto alternating = model("bursty:base=1,slow=5,bad=1,good=1");
  for (int r = 0; r < 50; ++r) {
    EXPECT_EQ(base(*never, r, 0), 1);
    EXPECT_EQ(base(*always, r, 0), 5);
    EXPECT_EQ(base(*alternating, r, 0) + base(*alternating, r + 1, 0), 6);
  }
}

TEST(DelayModel, ASlowRoundSlowsComputingToo) {
  const auto delays = model("bursty:base=1,slope=2,slow=5,bad=0.2,good=0.4");
  for (int r = 0; r < 50; ++r) {
    const Delay delay = delays->delay(Round{r}, WorkerId{3});
    EXPECT_EQ(delay.per_load, 2 * delay.base);
  }
}

TEST(DelayModel, SpreadGivesEveryWorkerASpeedOfItsOwn) {
  const auto delays = model("constant:base=1,slope=1,spread=0.5", 2000);
  double sum = 0, squares = 0;
  for (int i = 0; i < 2000; ++i) {
    const Delay delay = delays->delay(Round{0}, WorkerId{i});
    EXPECT_EQ(delay.base, delay.per_load);
    EXPECT_EQ(delay.base, delays->delay(Round{9}, WorkerId{i}).base);
    sum += std::log(delay.base.count());
    squares += std::log(delay.base.count()) * std::log(delay.base.count());
  }
  EXPECT_NEAR(sum / 2000, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 2000), 0.5, 0.03);
}

TEST(DelayModel, BimodalRoundsAreSlowWithTheirShareAndWithoutMemory) {
  const auto delays = model("bimodal:base=1,slow=5,share=0.2,slope=2");
  const Transitions turns = measured_transitions(*delays);
  EXPECT_NEAR(turns.good_to_bad, 0.2, 0.006);
  EXPECT_NEAR(turns.bad_to_good, 0.8, 0.012);
  EXPECT_NEAR(mean_base(*delays), 1 + 4 * 0.2, 0.02);
  EXPECT_NEAR(mean_base(*model("bimodal:base=1,slow=5,share=0.2,noise=0.5")), 1.5 * 1.8, 0.04);
  for (int r = 0; r < 50; ++r) {
    const Delay delay = delays->delay(Round{r}, WorkerId{3});
    EXPECT_EQ(delay.per_load, 2 * delay.base);
  }
}

TEST(DelayModel, AMixtureDrawsItsModelsWithTheirWeights) {
  const auto delays = model("0.7*constant:base=1,slope=1+0.2*constant:base=2+1e-1*constant:base=3");
  int drawn[4] = {0, 0, 0, 0};
  for (int r = 0; r < kRounds; ++r) {
    for (int i = 0; i < 16; ++i) ++drawn[static_cast<int>(base(*delays, r, i))];
  }
  const double draws = 16.0 * kRounds;
  EXPECT_NEAR(drawn[1] / draws, 0.7, 0.008);
  EXPECT_NEAR(drawn[2] / draws, 0.2, 0.007);
  EXPECT_NEAR(drawn[3] / draws, 0.1, 0.005);
  EXPECT_NEAR(mean_base(*model("0.5*exponential:base=0,mean=1+0.5*exponential:base=1e+0,mean=1")),
              1.5,
              0.02);
}

TEST(DelayModel, PartsOfAMixtureDrawByThemselves) {
  const auto twice = model("0.5*exponential:base=0,mean=1+0.5*exponential:base=0,mean=1");
  const auto alone = model("1*exponential:base=0,mean=1");
  int equal = 0;
  for (int r = 0; r < 100; ++r) {
    equal += base(*twice, r, 0) == base(*alone, r, 0) ? 1 : 0;
  }
  EXPECT_GT(equal, 20);
  EXPECT_LT(equal, 80);
}

TEST(DelayModel, TheSameQuestionGetsTheSameAnswerInAnyOrder) {
  const std::string text = "bursty:base=1,slow=5,bad=0.05,good=0.4,noise=0.2,spread=0.3";
  const auto forward = model(text);
  const auto backward = model(text);
  std::vector<double> seen;
  for (int r = 0; r < 60; ++r) {
    for (int i = 0; i < 16; ++i) seen.push_back(base(*forward, r, i));
  }
  for (int r = 59; r >= 0; --r) {
    for (int i = 15; i >= 0; --i) {
      EXPECT_EQ(base(*backward, r, i), seen[static_cast<std::size_t>(r * 16 + i)]);
    }
  }
}

TEST(DelayModel, SeedsAndWorkersDiffer) {
  const auto one = model("exponential:base=0,mean=1", 4, 1);
  const auto two = model("exponential:base=0,mean=1", 4, 2);
  EXPECT_NE(base(*one, 0, 0), base(*two, 0, 0));
  EXPECT_NE(base(*one, 0, 0), base(*one, 0, 1));
  EXPECT_NE(base(*one, 0, 0), base(*one, 1, 0));
}

TEST(DelayModel, NamesTheNearestRightChoice) {
  const struct {
    const char* text;
    const char* part;
  } cases[] = {
      {"burst:base=1", "did you mean 'bursty'?"},
      {"normal:base=1", "delay model 'normal'"},
      {"constant:bas=1", "did you mean 'base'?"},
      {"exponential:base=1,mean=-1", "mean=-1 is not allowed"},
      {"bursty:base=1,slow=0.5,bad=0.1,good=0.1", "slow=0.5 is not allowed"},
      {"bursty:base=1,slow=2,bad=1.5,good=0.1", "0 <= bad <= 1"},
      {"bursty:base=1,slow=2,bad=0.1", "needs good="},
      {"constant", "needs base="},
      {"bimodal:base=1,slow=2", "needs share="},
      {"0.5*constant:base=1+0.4*constant:base=2", "have the sum 0.9; it must be 1"},
      {"0*constant:base=1+1*constant:base=2", "weight 0 in "},
      {"0.5*constant:base=1+0.5*constnt:base=2", "did you mean 'constant'?"},
      {"0.5*constant:base=1+0.5", "base=1+0.5 is not allowed"},
      {"", "has no name"},
  };

  for (const auto& each : cases) {
    const auto made = make_delay_model(each.text, 4, 0);
    ASSERT_FALSE(made) << each.text;
    EXPECT_NE(made.error().message.find(each.part), std::string::npos) << made.error().message;
  }
  EXPECT_FALSE(make_delay_model("constant:base=1", 0, 0));
}

}  // namespace
}  // namespace paceline
