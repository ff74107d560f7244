#include "paceline/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/scheme.hpp"
#include "paceline/straggler_model.hpp"
#include "support/scheme_player.hpp"

namespace paceline {
namespace {

// Section 6 of the specification of sequential gradient coding; the loads with n = 256 are also in
// the published program (Krishnan, Ebrahimi, Khisti, ICLR 2023).
struct Row {
  int n, B, W, lambda, delay;
  Rational gc;
  int s;
  Rational sr_sgc, m_sgc, bound;
  double gap;
};

const std::vector<Row> kTable = {
    {4, 1, 2, 1, 1, {1, 2}, 1, {1, 2}, {1, 3}, {2, 7}, 1.166667},
    {4, 1, 3, 1, 2, {1, 2}, 1, {1, 2}, {3, 10}, {3, 11}, 1.1},
    {4, 2, 3, 2, 3, {3, 4}, 1, {1, 2}, {3, 8}, {1, 3}, 1.125},
    {4, 2, 3, 3, 3, {1, 1}, 2, {3, 4}, {2, 5}, {2, 5}, 1},
    {4, 2, 3, 4, 3, {1, 1}, 2, {3, 4}, {1, 2}, {1, 2}, 1},
    {6, 1, 2, 2, 1, {1, 2}, 1, {1, 3}, {1, 4}, {1, 5}, 1.25},
    {8, 2, 5, 3, 5, {1, 2}, 1, {1, 4}, {1, 6}, {1, 7}, 1.166667},
    {12, 3, 4, 5, 5, {1, 2}, 3, {1, 3}, {1, 7}, {2, 19}, 1.357143},
    {20, 1, 2, 4, 1, {1, 4}, 2, {3, 20}, {1, 12}, {1, 18}, 1.5},
    {20, 2, 3, 4, 3, {1, 4}, 2, {3, 20}, {1, 12}, {1, 18}, 1.5},
    {20, 2, 3, 19, 3, {1, 1}, 10, {11, 20}, {2, 21}, {2, 21}, 1},
    {20, 2, 3, 20, 3, {1, 1}, 10, {11, 20}, {1, 10}, {1, 10}, 1},
    {20, 3, 7, 8, 8, {9, 20}, 3, {1, 5}, {27, 380}, {3, 52}, 1.231579},
    {256, 1, 2, 9, 1, {5, 128}, 5, {3, 128}, {5, 704}, {2, 503}, 1.786222},
    {256, 1, 2, 27, 1, {7, 64}, 14, {15, 256}, {7, 928}, {2, 485}, 1.829203},
    {256, 1, 2, 31, 1, {1, 8}, 16, {17, 256}, {1, 132}, {2, 481}, 1.821970},
    {256, 1, 2, 255, 1, {1, 1}, 128, {129, 256}, {2, 257}, {2, 257}, 1},
    {256, 1, 2, 256, 1, {1, 1}, 128, {129, 256}, {1, 128}, {1, 128}, 1},
    {256, 2, 3, 23, 3, {3, 32}, 12, {13, 256}, {3, 400}, {2, 489}, 1.833750},
    {256, 1, 3, 27, 2, {7, 64}, 9, {5, 128}, {7, 1216}, {1, 247}, 1.421875},
    {256, 2, 5, 15, 5, {1, 16}, 5, {3, 128}, {1, 176}, {1, 251}, 1.426136},
    {256, 1, 2, 6, 1, {7, 256}, 3, {1, 64}, {7, 1024}, {1, 253}, 1.729492},
};

TEST(Bounds, AreThoseOfTheTable) {
  for (const Row& row : kTable) {
    const auto found = bursty_bounds(row.n, row.B, row.W, row.lambda);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->bound, row.bound);
    ASSERT_EQ(found->schemes.size(), 3U);
    const SchemeCosts& gc = found->schemes[0];
    const SchemeCosts& sr_sgc = found->schemes[1];
    const SchemeCosts& m_sgc = found->schemes[2];
    EXPECT_EQ(gc.load, row.gc);
    EXPECT_EQ(gc.decode_delay, 0);
    EXPECT_EQ(sr_sgc_tolerance(row.B, row.W, row.lambda), row.s);
    EXPECT_EQ(sr_sgc.load, row.sr_sgc);
    EXPECT_EQ(sr_sgc.storage, row.sr_sgc);
    EXPECT_EQ(sr_sgc.decode_delay, row.B);
    EXPECT_EQ(m_sgc.load, row.m_sgc);
    EXPECT_EQ(m_sgc.storage, row.lambda == row.n ? Rational(1, row.n) : row.m_sgc);
    EXPECT_EQ(m_sgc.decode_delay, row.delay);
    EXPECT_EQ(m_sgc.messages_per_round, row.delay + 1);
    EXPECT_NEAR(m_sgc.gap.value(), row.gap, 5e-7);
  }
}

/// Calls check(n, B, W, lambda) for all n <= 14, B < W <= 9.
template <class Check>
void for_all_small(const Check& check) {
  for (int n = 1; n <= 14; ++n) {
    for (int W = 2; W <= 9; ++W) {
      for (int B = 1; B < W; ++B) {
        for (int lambda = 0; lambda <= n; ++lambda) check(n, B, W, lambda);
      }
    }
  }
}

TEST(Bounds, TheGapOfMSgcHasItsClosedForm) {
  for_all_small([](int n, int B, int W, int lambda) {
    const Rational gap = m_sgc_load(n, B, W, lambda) / bursty_load_bound(n, B, W, lambda);
    const Rational form = lambda == n ? Rational(1)
                                      : Rational(1) + Rational(B * lambda * (n - 1 - lambda),
                                                               n * (B + (W - 1) * (lambda + 1)));
    EXPECT_EQ(gap, form) << n << " " << B << " " << W << " " << lambda;
  });
}

TEST(Bounds, NoSchemeIsBelowTheBoundAndLoadsGrowWithLambda) {
  for_all_small([](int n, int B, int W, int lambda) {
    const auto found = bursty_bounds(n, B, W, lambda);
    ASSERT_TRUE(found);
    for (const SchemeCosts& scheme : found->schemes) {
      // GC survives at most n-1 stragglers per round: where there may be n it waits for one.
      const bool waits = lambda == n && scheme.scheme.starts_with("gc");
      EXPECT_TRUE(waits || scheme.gap >= Rational(1)) << scheme.scheme << " n=" << n;
    }
    if (lambda == 0) return;
    EXPECT_GE(m_sgc_load(n, B, W, lambda), m_sgc_load(n, B, W, lambda - 1));
    EXPECT_GE(bursty_load_bound(n, B, W, lambda), bursty_load_bound(n, B, W, lambda - 1));
    EXPECT_EQ(bursty_load_bound(n, B, W, lambda), arbitrary_load_bound(n, B, W - 1 + B, lambda));
  });
}

/// The pattern behind the bound: the same `lambda` workers straggle in the first `times` of every
/// `period` rounds.
/// @return worker-rounds that work in one period, or -1 if the model refuses the pattern
int working(StragglerModel model, int workers, int lambda, int times, int period) {
  int working = 0;
  for (int round = 0; round < 4 * period; ++round) {
    WorkerSet stragglers(workers);
    if (round % period < times) {
      for (int i = 0; i < lambda; ++i) stragglers.insert(WorkerId{i});
    }
    if (!model.accepts(stragglers)) return -1;
    model.push(stragglers);
    if (round < period) working += workers - stragglers.size();
  }
  return working;
}

// In a period, P jobs come in, and each needs one pass over the data: L * working >= P.
TEST(Bounds, FollowFromAPatternThatConforms) {
  for (int n = 1; n <= 6; ++n) {
    for (int W = 2; W <= 6; ++W) {
      for (int B = 1; B < W; ++B) {
        for (int lambda = 0; lambda <= n; ++lambda) {
          const int P = W - 1 + B;
          const int bursty = working(StragglerModel::bursty(n, B, W, lambda), n, lambda, B, P);
          ASSERT_GT(bursty, 0);
          EXPECT_EQ(bursty_load_bound(n, B, W, lambda), Rational(P, bursty));
          const int any = working(StragglerModel::arbitrary(n, B, W, lambda), n, lambda, B, W);
          ASSERT_GT(any, 0);
          EXPECT_EQ(arbitrary_load_bound(n, B, W, lambda), Rational(W, any));
        }
      }
    }
  }
}

/// The least number of worker-rounds that work in the last `period` of 3 periods, over all patterns
/// that conform. Workers are alike, so of those with the same past the first ones straggle.
void search(const StragglerModel& model,
            std::vector<unsigned>& past,
            int round,
            int period,
            int so_far,
            int& least) {
  const int n = static_cast<int>(past.size());
  if (round == 3 * period) {
    least = std::min(least, so_far);
    return;
  }
  if (so_far >= least) return;
  for (unsigned set = 0; set < 1U << static_cast<unsigned>(n); ++set) {
    bool first_of_its_kind = true;
    for (int i = 0; i + 1 < n; ++i) {
      const bool straggles = (set >> static_cast<unsigned>(i) & 1U) != 0;
      const bool next = (set >> static_cast<unsigned>(i + 1) & 1U) != 0;
      const auto at = static_cast<std::size_t>(i);
      if (past[at] == past[at + 1] && next && !straggles) first_of_its_kind = false;
    }
    const WorkerSet stragglers = test::worker_set_from_bits(n, set);
    if (!first_of_its_kind || !model.accepts(stragglers)) continue;
    StragglerModel longer = model;
    longer.push(stragglers);
    std::vector<unsigned> now = past;
    for (int i = 0; i < n; ++i) {
      now[static_cast<std::size_t>(i)] =
          past[static_cast<std::size_t>(i)] * 2 + (set >> static_cast<unsigned>(i) & 1U);
    }
    const int works = round >= 2 * period ? n - stragglers.size() : 0;
    search(longer, now, round + 1, period, so_far + works, least);
  }
}

// No pattern that conforms leaves less work undone, in the long run, than the one above: over whole
// periods none has fewer working worker-rounds than it.
TEST(Bounds, NoOtherPatternOfThreePeriodsGivesAGreaterOne) {
  const struct {
    int n, B, W, lambda;
  } cases[] = {{2, 1, 2, 1},
               {2, 1, 2, 2},
               {3, 1, 2, 1},
               {3, 1, 2, 2},
               {2, 1, 3, 1},
               {2, 1, 3, 2},
               {2, 2, 3, 1},
               {3, 1, 3, 2},
               {4, 1, 2, 2}};

  for (const auto& [n, B, W, lambda] : cases) {
    const int P = W - 1 + B;
    const StragglerModel model = StragglerModel::bursty(n, B, W, lambda);
    std::vector<unsigned> past(static_cast<std::size_t>(n), 1);
    int least = n * P + 1;
    search(model, past, 0, P, 0, least);
    EXPECT_EQ(least, working(model, n, lambda, B, P)) << n << " " << B << " " << W << " " << lambda;
  }
}

TEST(Bounds, TheirSchemesHaveTheseCosts) {
  for (const Row& row : kTable) {
    if (row.n > 20) continue;
    const auto found = bursty_bounds(row.n, row.B, row.W, row.lambda);
    ASSERT_TRUE(found);
    for (const SchemeCosts& costs : found->schemes) {
      const auto scheme =
          make_scheme(costs.scheme + ",code=cyclic", {.workers = row.n, .keep_promise = false});
      ASSERT_TRUE(scheme) << scheme.error().message;
      const SchemeInfo& info = (*scheme)->info();
      EXPECT_NEAR(info.load, costs.load.value(), 1e-12) << costs.scheme;
      EXPECT_EQ(info.decode_delay, costs.decode_delay) << costs.scheme;
      EXPECT_EQ(info.messages_per_round, costs.messages_per_round) << costs.scheme;
    }
  }
}

TEST(Bounds, RefuseParametersOutOfRange) {
  const auto error = [](int n, int B, int W, int lambda) {
    const auto found = bursty_bounds(n, B, W, lambda);
    return found ? std::string("no error") : found.error().message;
  };
  EXPECT_EQ(error(4, 2, 2, 1), "B=2 is not allowed; 1 <= B <= 1");
  EXPECT_EQ(error(4, 1, 1, 1), "W=1 is not allowed; 2 <= W <= 1024");
  EXPECT_EQ(error(4, 1, 2, 5), "lambda=5 is not allowed; 0 <= lambda <= 4");
  EXPECT_EQ(error(0, 1, 2, 0), "workers=0 is not allowed; 1 <= workers <= 1048576");
  EXPECT_EQ(bursty_bounds(4, 2, 4, 1)->schemes.size(), 2U);  // B does not divide W-1: no SR-SGC
  EXPECT_THROW(sr_sgc_tolerance(2, 4, 1), ContractViolation);
}

}  // namespace
}  // namespace paceline
