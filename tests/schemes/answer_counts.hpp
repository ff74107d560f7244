// Schemes whose workers answer message by message: all counts of answers, and whether a decoding is
// right.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "paceline/scheme.hpp"

namespace paceline::test {

/// visit(answers) for all counts in 0 ... most.
template <class Visit>
void for_all_counts(int workers, int most, const Visit& visit) {
  Answers answers(workers);
  for (;;) {
    visit(answers);
    std::size_t i = 0;
    while (i < answers.done.size() && answers.done[i] == most) answers.done[i++] = 0;
    if (i == answers.done.size()) return;
    ++answers.done[i];
  }
}

/// Every part of every chunk is in the decoded sum once, in its own place and in no other; read off
/// the plan's rows.
inline void expect_each_chunk_once(const Decoding& decoding,
                                   const RoundPlan& plan,
                                   int chunks,
                                   int parts = 1) {
  const auto at = [&](int chunk, int in, int out) {
    return static_cast<std::size_t>((chunk * parts + in) * parts + out);
  };
  std::vector<double> sum(at(chunks, 0, 0), 0.0);
  for (const Coefficient& term : decoding.terms) {
    const auto& list = plan.per_worker[term.message.worker.index()];
    for (const Term& row : list[static_cast<std::size_t>(term.message.task)].row.terms()) {
      for (int segment = 0; segment < parts; ++segment) {
        if (term.segment != kWhole && term.segment != segment) continue;
        if (row.segment != kWhole && row.segment != segment) continue;
        const int in = row.part == kWhole ? segment : row.part;
        const int out = term.part == kWhole ? segment : term.part;
        sum[at(row.chunk.value, in, out)] += term.weight * row.weight;
      }
    }
  }
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int in = 0; in < parts; ++in) {
      for (int out = 0; out < parts; ++out) {
        ASSERT_NEAR(sum[at(chunk, in, out)], in == out ? 1 : 0, 1e-9) << chunk;
      }
    }
  }
}

inline void expect_answered(const Decoding& decoding, const Answers& answers) {
  for (const Coefficient& term : decoding.terms) {
    EXPECT_LT(term.message.task, answers.done[term.message.worker.index()]);
  }
}

}  // namespace paceline::test
