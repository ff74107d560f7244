// Worker sets against std::set, and ids as numbers.
#include "paceline/worker_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <vector>

#include "paceline/random.hpp"

namespace paceline {
namespace {

static_assert(!std::is_convertible_v<WorkerId, ChunkId>);
static_assert(!std::is_convertible_v<int, WorkerId>);
static_assert(!std::is_convertible_v<WorkerId, int>);
static_assert(!std::is_constructible_v<JobId, Round>);

TEST(Ids, AreOrderedAsTheirNumbersAre) {
  EXPECT_LT(JobId{3}, JobId{4});
  EXPECT_EQ(JobId{3}, JobId{3});
  EXPECT_EQ(Round{}.value, 0);
  EXPECT_EQ(ChunkId{5}.index(), 5U);
}

// 0, 1, one word less one, one word, one word and one, two words and a bit.
constexpr int kUniverses[] = {0, 1, 63, 64, 65, 130};

TEST(WorkerSet, IsEmptyWhenNew) {
  for (const int n : kUniverses) {
    const WorkerSet set(n);
    EXPECT_EQ(set.workers(), n);
    EXPECT_EQ(set.size(), 0);
    for (int i = 0; i < n; ++i) EXPECT_FALSE(set.contains(WorkerId{i}));
  }
}

TEST(WorkerSet, AllHoldsEveryWorkerAndNothingElse) {
  for (const int n : kUniverses) {
    const WorkerSet set = WorkerSet::all(n);
    EXPECT_EQ(set.size(), n);
    for (int i = 0; i < n; ++i) EXPECT_TRUE(set.contains(WorkerId{i}));
    EXPECT_EQ(set.complement(), WorkerSet(n));
  }
}

TEST(WorkerSet, AgreesWithAStandardSetOverRandomChanges) {
  RandomStream random(1, "worker set");
  for (const int n : kUniverses) {
    if (n == 0) continue;
    WorkerSet set(n);
    std::set<int> expected;
    for (int step = 0; step < 500; ++step) {
      const auto worker = static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
      if (random.below(2) == 0) {
        set.insert(WorkerId{worker});
        expected.insert(worker);
      } else {
        set.erase(WorkerId{worker});
        expected.erase(worker);
      }
      ASSERT_EQ(set.size(), static_cast<int>(expected.size()));
    }
    const WorkerSet rest = set.complement();
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(set.contains(WorkerId{i}), expected.count(i) == 1);
      EXPECT_NE(set.contains(WorkerId{i}), rest.contains(WorkerId{i}));
    }
    EXPECT_EQ(rest.size(), n - set.size());
    EXPECT_EQ(rest.complement(), set);
    set.clear();
    EXPECT_EQ(set, WorkerSet(n));
  }
}

TEST(WorkerSet, EqualSetsHashAlikeWhateverTheOrderOfInsertion) {
  WorkerSet up(100);
  WorkerSet down(100);
  for (int i = 0; i < 100; i += 3) up.insert(WorkerId{i});
  for (int i = 99; i >= 0; i -= 3) down.insert(WorkerId{i});
  EXPECT_EQ(up, down);
  EXPECT_EQ(up.hash(), down.hash());
  down.insert(WorkerId{1});
  EXPECT_NE(up, down);
}

TEST(WorkerSet, SetsOfDifferentUniversesDiffer) { EXPECT_NE(WorkerSet(3), WorkerSet(4)); }

TEST(WorkerSet, AllSubsetsOfSixteenWorkersHashDifferently) {
  std::set<std::size_t> hashes;
  for (unsigned subset = 0; subset < (1U << 16U); ++subset) {
    WorkerSet set(16);
    for (int i = 0; i < 16; ++i) {
      if ((subset >> static_cast<unsigned>(i) & 1U) != 0) set.insert(WorkerId{i});
    }
    hashes.insert(set.hash());
  }
  EXPECT_EQ(hashes.size(), std::size_t{1} << 16U);
}

TEST(WorkerSet, SetOperationsAreThoseOfEachMember) {
  constexpr int kWorkers = 130;
  WorkerSet thirds(kWorkers);
  WorkerSet halves(kWorkers);
  WorkerSet either(kWorkers);
  WorkerSet only_thirds(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    if (i % 3 == 0) thirds.insert(WorkerId{i});
    if (i % 2 == 0) halves.insert(WorkerId{i});
    if (i % 3 == 0 || i % 2 == 0) either.insert(WorkerId{i});
    if (i % 3 == 0 && i % 2 != 0) only_thirds.insert(WorkerId{i});
  }
  WorkerSet joined = thirds;
  joined |= halves;
  EXPECT_EQ(joined, either);
  EXPECT_EQ(thirds.size_with(halves), either.size());
  WorkerSet left = thirds;
  left -= halves;
  EXPECT_EQ(left, only_thirds);
  EXPECT_TRUE(thirds.intersects(halves));
  EXPECT_FALSE(left.intersects(halves));
  EXPECT_TRUE(WorkerSet(kWorkers).empty());
  EXPECT_FALSE(left.empty());
  std::vector<int> members;
  thirds.for_each([&](WorkerId worker) { members.push_back(worker.value); });
  std::vector<int> expected;
  for (int i = 0; i < kWorkers; i += 3) expected.push_back(i);
  EXPECT_EQ(members, expected);
  EXPECT_EQ(WorkerSet::all(kWorkers).size(), kWorkers);
  EXPECT_EQ(WorkerSet::all(128).size(), 128);
}

}  // namespace
}  // namespace paceline
