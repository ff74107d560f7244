#include <gtest/gtest.h>

#include <map>

#include "codes/code_test_support.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

/// group[i]: the only chunk that worker i holds.
std::vector<int> group_of(const GradientCode& code) {
  std::vector<int> group;
  for (const Row& row : code.rows) {
    EXPECT_EQ(row.terms().size(), 1U);
    EXPECT_EQ(row.terms()[0].weight, 1);
    group.push_back(row.terms()[0].chunk.value);
  }
  return group;
}

TEST(FractionalRepetition, MixesNeighboursIntoDifferentGroups) {
  const auto code = make_fractional_repetition({.workers = 7, .stragglers = 2}).value();
  EXPECT_EQ(code.chunks, 2);
  EXPECT_EQ(group_of(code), (std::vector{0, 1, 0, 1, 0, 1, 0}));
}

TEST(FractionalRepetition, OrFormsContiguousBlocks) {
  const auto code =
      make_fractional_repetition({.workers = 7, .stragglers = 1, .mixed = false}).value();
  EXPECT_EQ(group_of(code), (std::vector{0, 0, 1, 1, 2, 2, 2}));
}

TEST(FractionalRepetition, HasGroupsThatDifferByOneMemberAtMost) {
  for (int n = 1; n <= 20; ++n) {
    for (int groups = 1; groups <= n; ++groups) {
      for (const bool mixed : {true, false}) {
        const auto code =
            make_fractional_repetition({.workers = n, .groups = groups, .mixed = mixed}).value();
        EXPECT_DOUBLE_EQ(code.load, 1.0 / groups);
        std::map<int, int> members;
        for (const int group : group_of(code)) ++members[group];
        ASSERT_EQ(members.size(), static_cast<std::size_t>(groups));
        for (const auto& [group, size] : members) {
          EXPECT_TRUE(size == n / groups || size == (n + groups - 1) / groups);
          EXPECT_GE(size, code.tolerance + 1);
        }
      }
    }
  }
}

TEST(FractionalRepetition, TakesTheFirstAnswerOfEachGroupUnscaled) {
  const auto code = make_fractional_repetition({.workers = 9, .groups = 3}).value();
  const auto combination = code.decode(testing::all_but(9, {0, 4, 5})).value();
  ASSERT_EQ(combination.terms.size(), 3U);
  EXPECT_EQ(combination.terms[0].worker, WorkerId{3});
  EXPECT_EQ(combination.terms[1].worker, WorkerId{1});
  EXPECT_EQ(combination.terms[2].worker, WorkerId{2});
  for (const WorkerWeight& term : combination.terms) EXPECT_EQ(term.weight, 1);
  EXPECT_EQ(combination.residual, 0);
  EXPECT_EQ(combination.amplification, 1);
}

TEST(FractionalRepetition, DecodesManySetsLargerThanPromised) {
  // Decodable sets of q stragglers at n = 12, s = 2: 4 groups of 3, by inclusion and exclusion of
  // the groups that are lost; C(12, q) less those.
  const std::map<int, int> expected = {{2, 66}, {3, 216}, {4, 459}, {5, 648}, {6, 594}};
  for (const bool mixed : {true, false}) {
    const auto code =
        make_fractional_repetition({.workers = 12, .stragglers = 2, .mixed = mixed}).value();
    std::map<int, int> decodable;
    for (unsigned mask = 0; mask < 1U << 12U; ++mask) {
      const WorkerSet answered = testing::from_mask(12, mask);
      if (code.decodable(answered)) ++decodable[12 - answered.size()];
    }
    for (const auto& [stragglers, count] : expected) EXPECT_EQ(decodable[stragglers], count);
  }
}

TEST(FractionalRepetition, ToleratesWhatItsSmallestGroupTolerates) {
  // floor(11 / 4) = 2 groups of 5 and 6: four stragglers never wipe out a group.
  const auto code = make_fractional_repetition({.workers = 11, .stragglers = 3}).value();
  EXPECT_EQ(code.chunks, 2);
  EXPECT_EQ(code.tolerance, 4);
}

TEST(FractionalRepetition, RefusesGroupsThatWouldBeEmpty) {
  const auto code = make_fractional_repetition({.workers = 4, .groups = 5});
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().message,
            "groups = 5: must be 1 ... 4 (the number of workers), or 0 to follow from stragglers");
  EXPECT_FALSE(make_fractional_repetition({.workers = 4, .groups = -1}).has_value());
  EXPECT_FALSE(make_fractional_repetition({.workers = 0, .groups = 2}).has_value());
}

}  // namespace
}  // namespace paceline
