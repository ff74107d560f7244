// The close policies, asked about rounds of a scripted scheme.
#include "paceline/close_policy.hpp"

#include <gtest/gtest.h>

#include "engine/scripted_scheme.hpp"

namespace paceline {
namespace {

/// A round of ten busy workers that opened at 100 s; the test says what happens in it.
class RunningRound {
 public:
  explicit RunningRound(std::string_view policy)
      : policy_(make_close_policy(policy).value()), scheme_(script()) {
    open();
  }

  void open() {
    view_ = RoundView{};
    view_.opened = Seconds{100};
    view_.busy = 10;
    view_.scheme = &scheme_;
    view_.answers = &answers_;
    policy_->open();
  }

  /// Asks when to close, `now` after the round opened. @return relative to the opening, too
  double ask(double now, int complete, double fastest = 1) {
    view_.now = view_.opened + Seconds{now};
    view_.complete = complete;
    view_.fastest = complete > 0 ? Seconds{fastest} : kNever;
    return (policy_->close_at(view_) - view_.opened).count();
  }

  ClosePolicy& policy() { return *policy_; }

  bool closable = false;
  int tests = 0;  ///< how often the scheme was asked

 private:
  test::Script script() {
    test::Script script = test::simple_script(10, 10);
    script.may_close = [this](Round, const Answers&) {
      ++tests;
      return closable;
    };
    return script;
  }

  std::unique_ptr<ClosePolicy> policy_;
  test::ScriptedScheme scheme_;
  Answers answers_{10};
  RoundView view_;
};

constexpr double kNeverAgain = std::numeric_limits<double>::infinity();

TEST(PublishedClose, WaitsOnePlusMuTimesTheFastestAnswer) {
  RunningRound round("published:mu=0.5");
  round.closable = true;
  EXPECT_EQ(round.ask(0, 0), kNeverAgain);
  EXPECT_EQ(round.ask(2, 1, 2), 3);
  EXPECT_EQ(round.ask(2.5, 4, 2), 3);
  EXPECT_EQ(round.tests, 0) << "not asked before the cutoff";
  EXPECT_EQ(round.ask(3, 4, 2), 3) << "closes at the cutoff";
  EXPECT_FALSE(round.policy().waited_out());
}

TEST(PublishedClose, WaitsForAllOnceTheRoundCouldNotCloseAtTheCutoff) {
  RunningRound round("published:mu=1");
  round.ask(1, 1);
  EXPECT_EQ(round.ask(2, 5), kNeverAgain);
  EXPECT_TRUE(round.policy().waited_out());
  EXPECT_EQ(round.tests, 1);
  round.closable = true;
  EXPECT_EQ(round.ask(2.5, 8), kNeverAgain);
  EXPECT_EQ(round.ask(3, 9), kNeverAgain);
  EXPECT_EQ(round.tests, 1) << "never asked again";
  EXPECT_EQ(round.ask(9, 10), 9);
}

TEST(PublishedClose, ForgetsWithTheNextRound) {
  RunningRound round("published:mu=1");
  round.ask(2, 5);
  ASSERT_TRUE(round.policy().waited_out());
  round.open();
  EXPECT_FALSE(round.policy().waited_out());
  round.closable = true;
  EXPECT_EQ(round.ask(2, 5), 2);
}

TEST(PublishedClose, DoesNotAskWhenAllHaveAnswered) {
  RunningRound round("published:mu=1");
  EXPECT_EQ(round.ask(1.5, 10), 1.5);
  EXPECT_EQ(round.tests, 0);
  EXPECT_FALSE(round.policy().waited_out());
}

TEST(PublishedClose, ALateTimerStillCloses) {
  RunningRound round("published:mu=1");
  round.closable = true;
  EXPECT_EQ(round.ask(2.25, 5), 2.25);
}

TEST(ConformingClose, ClosesAsSoonAsItCanAfterTheCutoff) {
  RunningRound round("conforming:mu=1");
  round.closable = true;
  EXPECT_EQ(round.ask(1, 1), 2);
  EXPECT_EQ(round.tests, 0);
  round.closable = false;
  EXPECT_EQ(round.ask(2, 5), kNeverAgain);
  EXPECT_TRUE(round.policy().waited_out());
  EXPECT_EQ(round.ask(2.5, 6), kNeverAgain);
  round.closable = true;
  EXPECT_EQ(round.ask(3, 7), 3);
  EXPECT_EQ(round.tests, 3);
}

TEST(EagerClose, ClosesAtTheFirstMomentWhenItCan) {
  RunningRound round("eager");
  EXPECT_EQ(round.ask(0, 0), kNeverAgain);
  EXPECT_EQ(round.ask(1, 1), kNeverAgain);
  round.closable = true;
  EXPECT_EQ(round.ask(1.25, 2), 1.25);
  EXPECT_EQ(round.tests, 3);
  EXPECT_FALSE(round.policy().waited_out());
}

TEST(QuantileClose, WaitsForAFractionOfTheBusyWorkers) {
  RunningRound round("quantile:q=0.7");
  round.closable = true;
  EXPECT_EQ(round.ask(1, 6), kNeverAgain);
  EXPECT_EQ(round.tests, 0);
  EXPECT_EQ(round.ask(2, 7), 2) << "0.7 * 10 is 7, not a little more";
  round.closable = false;
  EXPECT_EQ(round.ask(2, 7), kNeverAgain);
  EXPECT_EQ(round.ask(3, 10), 3);
}

TEST(QuantileClose, RoundsAFractionUp) {
  RunningRound round("quantile:q=0.61");
  round.closable = true;
  EXPECT_EQ(round.ask(1, 6), kNeverAgain);
  EXPECT_EQ(round.ask(1, 7), 1);
}

TEST(ClosePolicies, ACopyContinuesLikeItsOriginal) {
  RunningRound round("published:mu=1");
  round.ask(2, 5);
  const std::unique_ptr<ClosePolicy> copy = round.policy().clone();
  EXPECT_TRUE(copy->waited_out());
  copy->open();
  EXPECT_FALSE(copy->waited_out());
  EXPECT_TRUE(round.policy().waited_out());
}

TEST(ClosePolicies, GoWithAReadingOfMayClose) {
  const auto rule = [](std::string_view text) { return make_close_policy(text).value()->rule(); };
  EXPECT_EQ(rule("published"), CloseRule::kPublished);
  EXPECT_EQ(rule("conforming:mu=2"), CloseRule::kModel);
  EXPECT_EQ(rule("eager"), CloseRule::kDecodable);
  EXPECT_EQ(rule("quantile:q=1"), CloseRule::kDecodable);
  EXPECT_EQ(rule("published:rule=model"), CloseRule::kModel);
  EXPECT_EQ(rule("conforming:mu=0,rule=decodable"), CloseRule::kDecodable);
  EXPECT_EQ(rule("eager:rule=published"), CloseRule::kPublished);
}

TEST(ClosePolicies, TheToleranceIsOneByDefault) {
  RunningRound round("published");
  EXPECT_EQ(round.ask(1, 1), 2);
}

TEST(ClosePolicies, WrongTextsNameTheNearestRightChoice) {
  const auto error = [](std::string_view text) {
    const auto policy = make_close_policy(text);
    return policy ? std::string("no error") : policy.error().message;
  };
  EXPECT_EQ(error("eagr"), "unknown close policy 'eagr'; did you mean 'eager'?");
  EXPECT_EQ(error("whenever"),
            "unknown close policy 'whenever'; known: published, conforming, eager, quantile");
  EXPECT_EQ(error(""), "'' has no name; expected name or name:key=value,key=value");
  EXPECT_EQ(error("published:mu=-1"),
            "published:mu=-1: mu=-1 is not allowed; a number, 0 <= mu <= 1000");
  EXPECT_EQ(error("conforming:m=1"), "conforming:m=1: unknown parameter 'm'; did you mean 'mu'?");
  EXPECT_EQ(error("quantile"), "quantile: needs q= (a number, 0 <= q <= 1)");
  EXPECT_EQ(error("quantile:q=1.5"), "quantile:q=1.5: q=1.5 is not allowed; a number, 0 <= q <= 1");
  EXPECT_EQ(error("eager:q=0.5"), "eager:q=0.5: unknown parameter 'q'; known: rule");
  EXPECT_EQ(error("eager:rule=decodible"),
            "eager:rule=decodible: unknown rule 'decodible'; did you mean 'decodable'?");
}

}  // namespace
}  // namespace paceline
