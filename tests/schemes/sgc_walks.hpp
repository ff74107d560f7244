// Walks through SR-SGC and M-SGC for all small parameters.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "schemes/pattern_search.hpp"

namespace paceline::test {

/// Calls visit(n, B, W, lambda) for B < W <= longest and all lambda.
template <class Visit>
void for_all(int workers, int longest, const Visit& visit) {
  for (int W = 2; W <= longest; ++W) {
    for (int B = 1; B < W; ++B) {
      for (int lambda = 0; lambda <= workers; ++lambda) visit(workers, B, W, lambda);
    }
  }
}

/// SR-SGC is walked through without an end: 64 jobs are more than any way to a new state is long.
inline constexpr int kEndless = 64;

inline int walk_sr_sgc(const std::string& scheme, int workers, int longest) {
  int states = 0;
  for_all(workers, longest, [&](int n, int B, int W, int lambda) {
    if ((W - 1) % B != 0) return;
    for (const CloseRule rule : {CloseRule::kDecodable, CloseRule::kModel}) {
      const auto result = walk_conforming({scheme, n, B, W, lambda, rule, kEndless});
      EXPECT_EQ(result.problem, "");
      EXPECT_LT(result.rounds, kEndless / 2);  // no new state owes anything to the end of the jobs
      states += result.states;
    }
  });
  return states;
}

/// Job t of M-SGC depends on rounds t ... t+T alone, and what conforms there also conforms in
/// rounds 0 ... T, so the first job stands for all.
inline int walk_m_sgc(const std::string& scheme, int workers, int longest, int jobs) {
  int states = 0;
  for_all(workers, longest, [&](int n, int B, int W, int lambda) {
    for (const CloseRule rule : {CloseRule::kDecodable, CloseRule::kModel}) {
      const auto result = walk_conforming({scheme, n, B, W, lambda, rule, jobs});
      EXPECT_EQ(result.problem, "");
      EXPECT_LT(result.rounds, kEndless / 2);  // no new state owes anything to the end of the jobs
      states += result.states;
    }
  });
  return states;
}

}  // namespace paceline::test
