// Fitting draws of a known model gives that model back.
#include "paceline/delay_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/parameters.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

DelayProfile drawn(const std::string& text, int rounds, int workers, std::uint64_t seed = 7) {
  const auto delays = make_delay_model(text, workers, seed);
  EXPECT_TRUE(delays) << delays.error().message;
  DelayProfile profile{rounds, workers, 0};
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < workers; ++i) {
      profile.seconds.push_back((*delays)->delay(Round{r}, WorkerId{i}).base.count());
    }
  }
  return profile;
}

DelayFit fit_of(const std::string& name, const DelayProfile& profile) {
  for (const DelayFit& fit : fit_delay_models(profile)) {
    if (fit.model.starts_with(name + ":")) return fit;
  }
  ADD_FAILURE() << "no fit of " << name;
  return {};
}

double value(const std::string& model, const std::string& key) {
  auto text = ParameterText::parse(model);
  EXPECT_TRUE(text);
  return text->number(key, 0, 1e9);
}

struct Truth {
  std::string key;
  double tolerance;  ///< relative
};

/// Draws of `text` fit its own model best, which has the parameters of `text` again.
void expect_recovered(const std::string& text, const std::vector<Truth>& truths) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const DelayProfile profile = drawn(text, 150, 32, seed);
    const std::string name = text.substr(0, text.find(':'));
    const auto fits = fit_delay_models(profile);
    const DelayFit fit = fits.front();
    ASSERT_TRUE(fit.model.starts_with(name + ":")) << text << " is fitted as " << fit.model;
    for (const auto& [key, tolerance] : truths) {
      const double truth = value(text, key);
      EXPECT_NEAR(value(fit.model, key), truth, tolerance * truth) << key << ": " << fit.model;
    }
    // 4,800 draws: the distance of the true distribution itself is below 1.63 / sqrt(4800) = 0.024
    // with a probability of 99 %; that of a chain's draws, which are not independent, is larger.
    EXPECT_LT(fit.distance, name == "bursty" ? 0.05 : 0.024) << fit.model;
  }
}

TEST(DelayFit, RecoversAShiftedExponential) {
  expect_recovered("exponential:base=0.5,mean=0.2", {{"base", 0.01}, {"mean", 0.04}});
}

TEST(DelayFit, RecoversAShiftedPareto) {
  expect_recovered("pareto:base=0.5,scale=0.2,shape=2.5",
                   {{"base", 0.08}, {"scale", 0.25}, {"shape", 0.2}});
  expect_recovered("pareto:base=0,scale=0.3,shape=1.5", {{"scale", 0.15}, {"shape", 0.15}});
}

TEST(DelayFit, RecoversAShiftedLognormal) {
  expect_recovered("lognormal:base=0.5,median=0.2,sigma=0.8",
                   {{"base", 0.02}, {"median", 0.06}, {"sigma", 0.06}});
}

TEST(DelayFit, RecoversTwoSpeedsWithoutMemory) {
  expect_recovered("bimodal:base=0.5,slow=4,share=0.1,noise=0.05",
                   {{"base", 0.01}, {"slow", 0.02}, {"share", 0.12}, {"noise", 0.05}});
}

TEST(DelayFit, RecoversBursts) {
  expect_recovered("bursty:base=0.5,slow=4,bad=0.03,good=0.3,noise=0.05",
                   {{"base", 0.01}, {"slow", 0.02}, {"bad", 0.2}, {"good", 0.12}, {"noise", 0.05}});
}

TEST(DelayFit, RecoversLognormalNoiseOfTwoSpeeds) {
  expect_recovered("bursty:base=0.5,slow=3,bad=0.05,good=0.4,noise=0.1,sigma=0.4",
                   {{"base", 0.1}, {"slow", 0.04}, {"bad", 0.2}, {"good", 0.15}});
}

TEST(DelayFit, RecoversAMixture) {
  const DelayProfile profile = drawn(
      "0.9*lognormal:base=0.5,median=0.1,sigma=0.4+0.1*lognormal:base=0.5,median=0.8,sigma=0.3",
      150,
      32);
  const DelayFit fit = fit_delay_models(profile).front();
  const std::size_t plus = fit.model.find('+');
  ASSERT_NE(plus, std::string::npos) << fit.model;
  EXPECT_NEAR(std::stod(fit.model), 0.9, 0.015);
  const std::string usual = fit.model.substr(0, plus);
  const std::string tail = fit.model.substr(plus + 1);
  EXPECT_NEAR(value(usual, "base"), 0.5, 0.03);
  EXPECT_NEAR(value(usual, "base") + value(usual, "median"), 0.6, 0.01);
  EXPECT_NEAR(value(tail, "base") + value(tail, "median"), 1.3, 0.04);
  EXPECT_NEAR(value(tail, "sigma"), 0.3, 0.04);
  EXPECT_LT(fit.distance, 0.02);
}

TEST(DelayFit, TellsBurstsFromIndependentRounds) {
  const DelayProfile bursts = drawn("bursty:base=0.5,slow=4,bad=0.03,good=0.3", 250, 32);
  const DelayFit bursty = fit_of("bursty", bursts);
  const DelayFit bimodal = fit_of("bimodal", bursts);
  EXPECT_NEAR(*straggling(bursts).again, 0.7, 0.04);
  EXPECT_NEAR(*bursty.straggling.again, 0.7, 0.04);
  EXPECT_NEAR(*bimodal.straggling.again, bimodal.straggling.share, 0.02);
  EXPECT_GT(bimodal.aic, bursty.aic + 1000);
  // Without memory the chain's fifth parameter is not worth its price.
  const DelayProfile independent = drawn("bimodal:base=0.5,slow=4,share=0.1", 250, 32);
  EXPECT_LT(fit_of("bimodal", independent).aic, fit_of("bursty", independent).aic + 1);
}

TEST(DelayFit, TheLikelihoodOfTheExponentialIsItsFormula) {
  // base 1, mean 1: sum of -log 1 - (x - 1)
  const DelayFit fit = fit_of("exponential", {1, 3, 0, {1, 1.5, 2.5}});
  EXPECT_EQ(value(fit.model, "base"), 1);
  EXPECT_NEAR(value(fit.model, "mean"), 2.0 / 3, 1e-6);
  EXPECT_NEAR(fit.log_likelihood, -3 * (std::log(2.0 / 3) + 1), 1e-9);
  EXPECT_NEAR(fit.aic, 4 - 2 * fit.log_likelihood, 1e-9);
  // F(1) = 0, F(1.5) = 0.528, F(2.5) = 0.895 against steps at 1/3, 2/3, 1
  EXPECT_NEAR(fit.distance, 1.0 / 3, 1e-9);
}

TEST(DelayFit, TextsCanBeUsedAsModels) {
  const DelayProfile profile = drawn("lognormal:base=0.5,median=0.2,sigma=0.8", 50, 8);
  const auto fits = fit_delay_models(profile, 1, 2.5);
  ASSERT_EQ(fits.size(), 6U);
  for (const DelayFit& fit : fits) {
    EXPECT_TRUE(make_delay_model(fit.model, 8, 1)) << fit.model;
    const std::size_t plus = fit.model.find('+');
    EXPECT_EQ(value(fit.model.substr(0, plus), "slope"), 2.5);
    if (plus != std::string::npos) {
      EXPECT_EQ(value(fit.model.substr(plus + 1), "slope"), 2.5);
    }
  }
}

TEST(DelayFit, TimesThatAreAllEqualHaveNoFit) {
  EXPECT_TRUE(fit_delay_models({2, 2, 0, {1, 1, 1, 1}}).empty());
  EXPECT_EQ(fit_delay_models({1, 2, 0, {1, 2}}).size(), 6U);
}

TEST(Straggling, CountsSharesAndBursts) {
  // Worker 1 is slow in rounds 0, 1 and 3, worker 2 always, worker 0 is the fastest.
  const DelayProfile profile{4, 3, 0, {1, 3, 5, 1, 3, 5, 1, 2, 5, 1, 3, 5}};
  const Straggling found = straggling(profile);
  EXPECT_DOUBLE_EQ(found.share, 7.0 / 12);
  // straggled before, with a round after: worker 1 rounds 0, 1; worker 2 rounds 0, 1, 2
  EXPECT_DOUBLE_EQ(*found.again, 4.0 / 5);
  EXPECT_EQ(found.bursts, (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(found.rounds_of_worker, (std::vector<int>{0, 3, 4}));
  EXPECT_EQ(found.usual_stragglers(), (std::vector<int>{1, 2}));
  EXPECT_FALSE(straggling(profile, 10).again);
}

TEST(Straggling, QuantilesAreLinearBetweenTimes) {
  const DelayProfile profile{1, 5, 0, {5, 1, 2, 4, 3}};
  EXPECT_EQ(quantiles(profile, {0, 0.125, 0.5, 1}), (std::vector<double>{1, 1.5, 3, 5}));
}

TEST(Straggling, SpreadIsThatOfTheModel) {
  EXPECT_NEAR(worker_spread(drawn("exponential:base=1,mean=0.2,spread=0.3", 60, 400)), 0.3, 0.03);
  EXPECT_LT(worker_spread(drawn("exponential:base=1,mean=0.2", 60, 400)), 0.01);
}

TEST(DelayFit, FitsMeasuredProfiles) {
  PACELINE_NEED_SHARED_FILE(path, "traces/lambda-cnn-long-canada-b2048-load0.000.csv");
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile);
  const auto fits = fit_delay_models(*profile);
  ASSERT_EQ(fits.size(), 6U);
  EXPECT_LT(fits.front().distance, 0.03) << fits.front().model;
  EXPECT_NEAR(fits.front().straggling.share, straggling(*profile).share, 0.015);
}

}  // namespace
}  // namespace paceline
