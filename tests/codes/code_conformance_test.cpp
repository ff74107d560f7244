// What every code owes, whatever its family: exhaustively for up to 8 workers, every tolerance and
// every set of answers; at random beyond.
#include <gtest/gtest.h>

#include "codes/code_test_support.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using testing::all_but;
using testing::from_mask;

GradientCode unlimited(const std::string& name, int workers, int stragglers) {
  return make_code({.name = name,
                    .workers = workers,
                    .stragglers = stragglers,
                    .seed = 1,
                    .keep_promise = false})
      .value();
}

/// Some chunk was held by stragglers only.
bool a_chunk_is_lost(const GradientCode& code, const WorkerSet& answered) {
  std::vector<bool> seen(static_cast<std::size_t>(code.chunks), false);
  for (int i = 0; i < code.workers(); ++i) {
    if (!answered.contains(WorkerId{i})) continue;
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) seen[term.chunk.index()] = true;
  }
  return std::ranges::find(seen, false) != seen.end();
}

class EveryCode : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryCode, DecodesExactlyTheSetsItShouldAndExactly) {
  for (int n = 1; n <= 8; ++n) {
    for (int s = 0; s < n; ++s) {
      const GradientCode code = unlimited(GetParam(), n, s);
      ASSERT_EQ(code.name, GetParam());
      ASSERT_GE(code.tolerance, s);
      // Groups and plain codes decode whatever loses no chunk; the others go by the count.
      const bool by_chunk = code.name == "repetition" || s == 0 || s == n - 1;
      for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
        const WorkerSet answered = from_mask(n, mask);
        const auto combination = code.decode(answered);
        const bool expected =
            by_chunk ? !a_chunk_is_lost(code, answered) : n - answered.size() <= s;
        ASSERT_EQ(combination.has_value(), expected) << "n " << n << " s " << s << " set " << mask;
        ASSERT_EQ(code.decodable(answered), expected) << "n " << n << " s " << s << " set " << mask;
        if (!combination) continue;
        const double A = combination->amplification;
        ASSERT_LE(testing::worst_deviation(code, *combination), 1e-10 * std::max(1.0, A))
            << "n " << n << " s " << s << " set " << mask;
        ASSERT_NEAR(testing::amplification(code, *combination), A, 1e-9 * A);
        ASSERT_LE(combination->residual, 1e-20 * std::max(1.0, A * A));
        for (const WorkerWeight& term : combination->terms) {
          ASSERT_TRUE(answered.contains(term.worker));
          ASSERT_NE(term.weight, 0);
        }
      }
    }
  }
}

TEST_P(EveryCode, PutsEveryChunkOnMoreWorkersThanMayStraggle) {
  for (int n = 1; n <= 9; ++n) {
    for (int s = 0; s < n; ++s) {
      const GradientCode code = unlimited(GetParam(), n, s);
      ASSERT_EQ(code.workers(), n);
      ASSERT_EQ(code.chunk_size.size(), static_cast<std::size_t>(code.chunks));
      const auto G = testing::dense(code);
      double total = 0;
      double largest = 0;
      std::vector<int> holders(static_cast<std::size_t>(code.chunks), 0);
      for (const auto& row : G) {
        double load = 0;
        for (std::size_t j = 0; j < row.size(); ++j) {
          if (row[j] == 0.0) continue;
          load += code.chunk_size[j];
          ++holders[j];
        }
        total += load;
        largest = std::max(largest, load);
      }
      EXPECT_GE(*std::ranges::min_element(holders), s + 1);
      EXPECT_GE(total, s + 1 - 1e-12);
      EXPECT_NEAR(largest, code.load, 1e-12);
    }
  }
}

TEST_P(EveryCode, SendsPlainGradientsWithoutStragglersAndEverythingWithAllButOne) {
  const GradientCode identity = unlimited(GetParam(), 5, 0);
  EXPECT_EQ(identity.chunks, 5);
  EXPECT_EQ(identity.backward_passes, 1);
  EXPECT_DOUBLE_EQ(identity.load, 0.2);
  for (int i = 0; i < 5; ++i) {
    const auto terms = identity.rows[WorkerId{i}.index()].terms();
    ASSERT_EQ(terms.size(), 1U);
    EXPECT_EQ(terms[0], Term{ChunkId{i}});
  }
  const GradientCode replication = unlimited(GetParam(), 5, 4);
  EXPECT_DOUBLE_EQ(replication.load, 1);
  EXPECT_EQ(replication.backward_passes, 1);
  EXPECT_TRUE(replication.decodable(all_but(5, {0, 1, 3, 4})));
}

TEST_P(EveryCode, NeverLosesASetByOneMoreAnswerWhereItKeepsItsPromise) {
  for (const auto& [n, s] : {std::pair{10, 3}, {12, 4}, {16, 2}}) {
    const GradientCode code =
        make_code({.name = GetParam(), .workers = n, .stragglers = s, .seed = 1}).value();
    RandomStream random(7, "more answers");
    for (int trial = 0; trial < 300; ++trial) {
      WorkerSet answered(n);
      bool before = false;
      for (const int worker : random.permutation(n)) {
        answered.insert(WorkerId{worker});
        const bool now = code.decodable(answered);
        ASSERT_EQ(now, code.decode(answered).has_value());
        ASSERT_TRUE(now || !before) << "n " << n << " s " << s << " trial " << trial;
        before = now;
      }
      ASSERT_TRUE(before) << "all have answered";
    }
  }
}

TEST_P(EveryCode, RefusesImpossibleParametersInOneLine) {
  for (const auto& [n, s] : {std::pair{0, 0}, {-3, 0}, {4, -1}, {4, 4}, {4, 9}}) {
    const auto code = make_code({.name = GetParam(), .workers = n, .stragglers = s});
    ASSERT_FALSE(code.has_value()) << n << " " << s;
    EXPECT_EQ(code.error().message.find('\n'), std::string::npos);
  }
  const auto code = make_code({.name = GetParam(), .workers = 4, .stragglers = 9});
  EXPECT_EQ(code.error().message,
            "stragglers = 9 of 4 workers: one worker must answer, so 0 ... 3 is allowed; the "
            "nearest is 3");
}

TEST_P(EveryCode, ChecksTheSizeOfTheSetItIsAsked) {
  const GradientCode code = unlimited(GetParam(), 6, 2);
  EXPECT_THROW(static_cast<void>(code.decode(WorkerSet::all(7))), ContractViolation);
  EXPECT_THROW(static_cast<void>(code.decodable(WorkerSet::all(5))), ContractViolation);
}

INSTANTIATE_TEST_SUITE_P(Codes,
                         EveryCode,
                         ::testing::Values("repetition", "cyclic", "mds"),
                         [](const auto& code) { return std::string(code.param); });

}  // namespace
}  // namespace paceline
