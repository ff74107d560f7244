#include "paceline/search_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "paceline/scheme.hpp"

namespace paceline {
namespace {

std::vector<std::string> names(const std::vector<SearchFamily>& families) {
  std::vector<std::string> list;
  for (const SearchFamily& family : families) list.push_back(family.name);
  return list;
}

// Nested codes take as many messages as `partial`, which never ends later.
TEST(SearchSpace, HasEverySchemeThatCanBeBest) {
  const auto families = search_space({.workers = 12, .models = 4, .most_jobs_per_round = 4});
  for (const SchemeDescription& scheme : scheme_catalog()) {
    EXPECT_EQ(std::ranges::count(families, scheme.name, &SearchFamily::name),
              scheme.name == "nested" ? 0 : 1)
        << scheme.name;
  }
}

TEST(SearchSpace, LinesKeepToTheStorage) {
  for (const double storage : {0.15, 0.25, 0.5}) {
    const SearchLimits limits{.workers = 20, .storage = storage};
    for (const SearchFamily& family : search_space(limits)) {
      if (family.name != "partial" && family.name != "partial-gc" && family.name != "clusters") {
        continue;
      }
      for (const SearchLine& line : family.lines) {
        for (int value = line.low; value <= line.high; ++value) {
          const auto scheme = make_scheme(line.text(value), {.workers = 20, .keep_promise = false});
          ASSERT_TRUE(scheme) << line.text(value) << ": " << scheme.error().message;
          EXPECT_LE((*scheme)->info().storage, storage + 1e-9) << line.text(value);
        }
      }
    }
  }
}

// Both ends of every line, so that a search may start there.
TEST(SearchSpace, LinesHoldSchemesWithinTheLimits) {
  for (const int n : {1, 2, 7, 12}) {
    const SearchLimits limits{.workers = n, .models = 4, .storage = 1, .most_jobs_per_round = 4};
    for (const SearchFamily& family : search_space(limits)) {
      for (const SearchLine& line : family.lines) {
        ASSERT_LE(line.low, line.high);
        for (const int value : {line.low, (line.low + line.high) / 2, line.high}) {
          const auto scheme = make_scheme(line.text(value), {.workers = n, .keep_promise = false});
          ASSERT_TRUE(scheme) << line.text(value) << ": " << scheme.error().message;
          EXPECT_LE((*scheme)->info().open_jobs, 4) << line.text(value);
        }
      }
    }
  }
}

TEST(SearchSpace, BundlesWhereWorkersAllow) {
  const auto families = search_space(
      {.workers = 9, .models = 4, .fewest_jobs_per_round = 2, .most_jobs_per_round = 4});
  const auto uncoded = std::ranges::find(families, "uncoded", &SearchFamily::name);
  ASSERT_NE(uncoded, families.end());
  ASSERT_EQ(uncoded->lines.size(), 1U);  // 3 divides 9, 2 and 4 do not
  EXPECT_EQ(uncoded->lines[0].text(0), "uncoded:bundle=3");
  const auto relay = std::ranges::find(families, "relay", &SearchFamily::name);
  ASSERT_EQ(relay->lines.size(), 2U);  // 2 and 4 divide T+1
  EXPECT_EQ(relay->lines[0].text(1), "relay:T=3,bundle=2");
}

TEST(SearchSpace, OneJobInFlightLeavesSchemesWithoutMemory) {
  EXPECT_EQ(names(search_space({.workers = 8})),
            (std::vector<std::string>{"uncoded",
                                      "gc",
                                      "gc-auto",
                                      "partial",
                                      "partial-gc",
                                      "clusters",
                                      "relay",
                                      "relay-fixed"}));
}

TEST(SearchSpace, HoldsEveryApproximateCodeThatDecodesWhenSomethingMayBeMissing) {
  const auto families = search_space({.workers = 7, .storage = 0.5, .max_residual = 0.05});
  const auto found = std::ranges::find(families, "gc-approximate", &SearchFamily::name);
  ASSERT_NE(found, families.end());
  std::set<std::string> texts;
  for (const SearchLine& line : found->lines) {
    for (int value = line.low; value <= line.high; ++value) {
      const std::string text = line.text(value);
      const auto scheme = make_scheme(text, {.workers = 7});
      if (scheme) texts.insert((*scheme)->info().label());
    }
  }
  for (const char* text : {"gc:code=erasurehead,residual=0.05,r=1",
                           "gc:code=soft-design,residual=0.05,r=3",
                           "gc:code=projective-plane,residual=0.05"}) {
    EXPECT_TRUE(texts.contains(text)) << text;
  }
  EXPECT_GE(texts.size(), 15U);
  EXPECT_EQ(std::ranges::count(search_space({.workers = 7}), "gc-approximate", &SearchFamily::name),
            0);
}

TEST(SearchSpace, LittleStorageLeavesNoRoomForRedundancy) {
  const auto families = search_space({.workers = 8, .models = 4, .storage = 0.125});
  EXPECT_EQ(std::ranges::count(families, "relay-fixed", &SearchFamily::name), 0);
  const auto relay = std::ranges::find(families, "relay", &SearchFamily::name);
  ASSERT_NE(relay, families.end());
  EXPECT_EQ(relay->lines.front().text(3), "relay:T=3,bundle=1,holders=1");
  const auto gc = std::ranges::find(families, "gc", &SearchFamily::name);
  ASSERT_NE(gc, families.end());
  for (const SearchLine& line : gc->lines) EXPECT_EQ(line.text(line.low), "gc:groups=8");
}

// What a worker must hold, by hand: M-SGC stores less than it processes where lambda = n.
TEST(SchemeInfo, KnowsWhatAWorkerStores) {
  const auto storage = [](const char* text) {
    return make_scheme(text, {.workers = 12, .keep_promise = false}).value()->info().storage;
  };
  EXPECT_DOUBLE_EQ(storage("uncoded"), 1.0 / 12);
  EXPECT_DOUBLE_EQ(storage("gc:groups=4"), 1.0 / 4);
  EXPECT_DOUBLE_EQ(storage("gc:s=2,code=mds"), 3.0 / 12);  // load 6/12: two passes
  EXPECT_DOUBLE_EQ(storage("sr-sgc:B=1,W=2,lambda=4,code=cyclic"), 3.0 / 12);
  EXPECT_DOUBLE_EQ(storage("m-sgc:B=3,W=4,lambda=5,code=cyclic"), 1.0 / 7);  // spec, section 6
  EXPECT_DOUBLE_EQ(storage("m-sgc:B=2,W=3,lambda=12"), 1.0 / 12);
  EXPECT_DOUBLE_EQ(storage("gc:groups=2,bundle=3"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(storage("relay:T=1"), 1);
  EXPECT_DOUBLE_EQ(storage("relay:T=1,holders=3"), 1.0 / 4);
}

}  // namespace
}  // namespace paceline
