// A value or why there is none.
#include "paceline/expected.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace paceline {
namespace {

static_assert(!std::is_convertible_v<Expected<int>, bool>, "only in conditions");

Expected<int> half(int x) {
  if (x % 2 != 0) return invalid("odd");
  return x / 2;
}

Expected<void> positive(int x) {
  if (x <= 0) return failed("not positive");
  return {};
}

TEST(Expected, HoldsAValue) {
  const Expected<int> result = half(6);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(result.value(), 3);
  EXPECT_EQ(result.value_or(9), 3);
}

TEST(Expected, HoldsAnError) {
  const Expected<int> result = half(5);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "odd");
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(result.value_or(9), 9);
}

TEST(Expected, WithoutAValueSaysOnlyWhetherItWorked) {
  EXPECT_TRUE(positive(1));
  EXPECT_NO_THROW(positive(1).value());
  const Expected<void> result = positive(0);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "not positive");
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
}

TEST(Expected, LookingForWhatIsNotThereIsABugOfTheCaller) {
  Expected<int> error = half(5);
  const Expected<int>& constant = error;
  EXPECT_THROW(static_cast<void>(*error), ContractViolation);
  EXPECT_THROW(static_cast<void>(error.value()), ContractViolation);
  EXPECT_THROW(static_cast<void>(*constant), ContractViolation);
  EXPECT_THROW(static_cast<void>(half(5).value()), ContractViolation);
  EXPECT_THROW(static_cast<void>(half(6).error()), ContractViolation);
  EXPECT_THROW(positive(0).value(), ContractViolation);
  EXPECT_THROW(static_cast<void>(positive(1).error()), ContractViolation);
  const Expected<std::string> text = invalid("none");
  EXPECT_THROW(static_cast<void>(text->size()), ContractViolation);
}

TEST(Expected, GivesAwayAValueThatCanOnlyBeMoved) {
  Expected<std::unique_ptr<int>> owner = std::make_unique<int>(7);
  EXPECT_EQ(**owner, 7);
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 7);
  const std::unique_ptr<int> other =
      Expected<std::unique_ptr<int>>(std::make_unique<int>(8)).value();
  EXPECT_EQ(*other, 8);
}

TEST(Expected, LetsItsValueBeChanged) {
  Expected<std::vector<int>> list = std::vector<int>{1};
  list->push_back(2);
  (*list)[0] = 5;
  EXPECT_EQ(list.value(), (std::vector<int>{5, 2}));
}

TEST(Expected, TellsAValueFromAnErrorOfTheSameType) {
  using Text = Expected<std::string, std::string>;
  const Text good = std::string("same");
  const Text bad = Unexpected<std::string>("same");
  EXPECT_TRUE(good);
  EXPECT_FALSE(bad);
  EXPECT_EQ(*good, bad.error());
}

TEST(Expected, CopiesAreIndependent) {
  Expected<int> one = half(4);
  const Expected<int> two = one;
  one = half(5);
  EXPECT_FALSE(one);
  EXPECT_EQ(*two, 2);
}

TEST(Check, NamesTheConditionAndThePlace) {
  try {
    PACELINE_CHECK(1 + 1 == 3);
    FAIL() << "passed";
  } catch (const ContractViolation& violation) {
    const std::string what = violation.what();
    EXPECT_NE(what.find("1 + 1 == 3"), std::string::npos) << what;
    EXPECT_NE(what.find("expected_test.cpp:"), std::string::npos) << what;
  }
}

TEST(Check, EvaluatesItsConditionOnce) {
  int count = 0;
  PACELINE_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace paceline
