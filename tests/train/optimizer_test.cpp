#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/random.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

const std::vector<float> kGradients{0.5F, -0.25F, 0.125F, 0.0F, -1.0F};

// Steps a parameter that starts at 1 beside one that never has a gradient.
std::vector<float> trajectory(const std::string& text) {
  const auto optimizer = make_optimizer(text);
  EXPECT_TRUE(optimizer) << optimizer.error().message;
  std::vector<float> parameters{1.0F, 3.0F};
  std::vector<float> path;
  for (const float g : kGradients) {
    (*optimizer)->step(parameters, std::vector<float>{g, 0.0F});
    path.push_back(parameters[0]);
  }
  EXPECT_EQ(parameters[1], 3.0F);
  return path;
}

void expect_path(const std::string& text, const std::vector<float>& expected) {
  const std::vector<float> path = trajectory(text);
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_NEAR(path[t], expected[t], 1e-6) << text << ", step " << t + 1;
  }
}

std::string optimizer_error(const std::string& text) {
  const auto optimizer = make_optimizer(text);
  return optimizer ? "no error" : optimizer.error().message;
}

// Computed in float64 from the formulas of torch.optim.SGD: v = momentum v + g, p -= lr v.
TEST(Sgd, FollowsTheFormulaStepForStep) {
  expect_path("sgd:lr=0.1", {0.95F, 0.975F, 0.9625F, 0.9625F, 1.0625F});
  expect_path("sgd:lr=0.1,momentum=0.9", {0.95F, 0.93F, 0.8995F, 0.87205F, 0.947345F});
}

// Computed in float64 from the formulas of torch.optim.Adam with its defaults; the first step is
// lr * sign(g), as always with Adam.
TEST(Adam, FollowsTheFormulaStepForStep) {
  expect_path("adam:lr=0.1", {0.9F, 0.8733663F, 0.83932338F, 0.8114375F, 0.84709344F});
}

TEST(Optimizer, CloneContinuesLikeItsOriginal) {
  for (const std::string text : {"sgd:lr=0.1,momentum=0.5", "adam:lr=0.01"}) {
    auto original = make_optimizer(text);
    std::vector<float> a{1, 2};
    (*original)->step(a, std::vector<float>{0.5F, -2});
    std::vector<float> b = a;
    const auto copy = (*original)->clone();
    (*original)->step(a, std::vector<float>{1, 1});
    copy->step(b, std::vector<float>{1, 1});
    EXPECT_EQ(a, b) << text;
  }
}

TEST(Optimizer, RefusesAGradientOfAnotherLength) {
  auto optimizer = make_optimizer("adam:lr=0.1");
  std::vector<float> parameters(3);
  EXPECT_THROW((*optimizer)->step(parameters, std::vector<float>(2)), ContractViolation);
}

TEST(Optimizer, StepsOfSlicesAreThoseOfTheWholeBitForBit) {
  constexpr std::size_t kNumbers = 1003;
  constexpr std::size_t kCut = 357;
  for (const char* text : {"sgd:lr=0.1", "sgd:lr=0.1,momentum=0.9", "adam:lr=0.01"}) {
    const auto whole = make_optimizer(text).value();
    const auto front = whole->clone();
    const auto back = whole->clone();
    EXPECT_TRUE(whole->coordinatewise());
    RandomStream random(7, text);
    std::vector<float> parameters(kNumbers), gradient(kNumbers);
    for (float& value : parameters) value = static_cast<float>(random.normal());
    std::vector<float> slices = parameters;
    for (int step = 0; step < 5; ++step) {
      for (float& value : gradient) value = static_cast<float>(random.normal());
      whole->step(parameters, gradient);
      const std::span<float> p(slices);
      const std::span<const float> g(gradient);
      front->step(p.first(kCut), g.first(kCut));
      back->step(p.subspan(kCut), g.subspan(kCut));
    }
    EXPECT_EQ(slices, parameters) << text;
  }
}

TEST(Optimizer, ErrorsNameTheValueAndWhatIsAllowed) {
  EXPECT_EQ(optimizer_error("adma:lr=0.1"), "unknown optimizer 'adma'; did you mean 'adam'?");
  EXPECT_EQ(optimizer_error("sgd:lr=0"), "sgd:lr=0: lr=0 would never move; lr > 0 is needed");
  EXPECT_EQ(optimizer_error("sgd:lr=0.1,momentum=1"),
            "sgd:lr=0.1,momentum=1: momentum=1 never forgets; 0 <= momentum < 1 is needed");
  EXPECT_NE(optimizer_error("adam").find("needs lr="), std::string::npos);
  EXPECT_NE(optimizer_error("adam:lr=-1").find("lr=-1 is not allowed"), std::string::npos);
  EXPECT_NE(optimizer_error("adam:lr=0.1,momentum=0.9").find("'momentum'"), std::string::npos);
}

}  // namespace
}  // namespace paceline
