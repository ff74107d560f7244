// The theorems of SR-SGC and M-SGC for all small parameters: every pattern that conforms to the
// bursty model is survived, by the real schemes, and what is just not survived does not conform.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <iostream>
#include <string>
#include <vector>

#include "paceline/bounds.hpp"
#include "schemes/sgc_walks.hpp"

namespace paceline {
namespace {

using test::for_all;
using test::kEndless;
using test::walk_m_sgc;
using test::walk_sr_sgc;
using test::Walked;

TEST(SgcExhaustive, SrSgcSurvivesEveryConformingPattern) {
  for (const char* scheme : {"sr-sgc,code=cyclic", "sr-sgc,code=repetition"}) {
    EXPECT_GT(walk_sr_sgc(scheme, 2, 4), 800);
    EXPECT_GT(walk_sr_sgc(scheme, 3, 3), 700);
  }
}

TEST(SgcExhaustive, MSgcSurvivesEveryConformingPattern) {
  for (const char* scheme : {"m-sgc,code=cyclic", "m-sgc,code=repetition"}) {
    EXPECT_GT(walk_m_sgc(scheme, 1, 4, 1), 200);
    EXPECT_GT(walk_m_sgc(scheme, 2, 4, 1), 1900);
    EXPECT_GT(walk_m_sgc(scheme, 3, 3, 1), 1400);
  }
}

TEST(SgcExhaustive, MSgcSurvivesWithItsJobsAsInALongRun) {
  for (const char* scheme : {"m-sgc,code=cyclic", "m-sgc,code=repetition"}) {
    EXPECT_GT(walk_m_sgc(scheme, 2, 3, kEndless), 300);
  }
}

/// Finds, shows and checks the least pattern that is not survived.
/// @return its straggles
int least_fatal_straggles(const Walked& walked, const StragglerModel& model) {
  const std::vector<unsigned> pattern = test::least_fatal_pattern(walked);
  const std::string text = test::pattern_text(pattern);
  const std::string name = walked.text() + " n=" + std::to_string(walked.workers);
  std::cout << name << " does not survive " << text << "\n";
  ::testing::Test::RecordProperty(name, text);
  EXPECT_FALSE(pattern.empty()) << name;
  EXPECT_FALSE(test::conforms(pattern, model, walked.workers)) << name << ": " << text;
  int straggles = 0;
  for (const unsigned set : pattern) straggles += std::popcount(set);
  return straggles;
}

TEST(SgcExhaustive, WhatGcDoesNotSurviveIsOneStragglerTooMany) {
  for (int n = 1; n <= 4; ++n) {
    for (int s = 0; s < n; ++s) {
      const std::string text = "gc:s=" + std::to_string(s) + ",code=cyclic";
      EXPECT_EQ(least_fatal_straggles({text, n, 1, 2, 0, CloseRule::kDecodable, 2},
                                      StragglerModel::per_round(n, s)),
                s + 1);
    }
  }
}

/// Workers that must straggle in one round before a code for `tolerance` stragglers needs more: the
/// smallest group of a repetition code whose groups are as equal as they can be.
int too_many(const std::string& code, int n, int tolerance) {
  if (code == "cyclic") return tolerance + 1;
  const int groups = n / (tolerance + 1);
  return n / groups;
}

// In round r too many workers straggle, in round r+B one of those that repeat.
TEST(SgcExhaustive, WhatSrSgcDoesNotSurviveDoesNotConform) {
  for (const char* code : {"cyclic", "repetition"}) {
    for_all(4, 3, [&](int n, int B, int W, int lambda) {
      if ((W - 1) % B != 0) return;
      const Walked walked{
          std::string("sr-sgc,code=") + code, n, B, W, lambda, CloseRule::kDecodable, 8};
      const int straggles = least_fatal_straggles(walked, StragglerModel::bursty(n, B, W, lambda));
      EXPECT_EQ(straggles, too_many(code, n, sr_sgc_tolerance(B, W, lambda)) + 1) << walked.text();
    });
  }
}

// Too many workers straggle at once when a group is due, or one straggles more than B times in the
// W-1+B rounds of a job.
TEST(SgcExhaustive, WhatMSgcDoesNotSurviveDoesNotConform) {
  for (const char* code : {"cyclic", "repetition"}) {
    for_all(3, 4, [&](int n, int B, int W, int lambda) {
      const Walked walked{
          std::string("m-sgc,code=") + code, n, B, W, lambda, CloseRule::kDecodable, 1};
      const int straggles = least_fatal_straggles(walked, StragglerModel::bursty(n, B, W, lambda));
      const int at_once = lambda == n ? n + 1 : too_many(code, n, lambda);
      EXPECT_EQ(straggles, std::min(at_once, B + 1)) << walked.text();
    });
  }
}

}  // namespace
}  // namespace paceline
