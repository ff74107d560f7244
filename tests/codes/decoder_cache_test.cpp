#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "codes/code_test_support.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

using testing::from_mask;

/// A decoder that counts its calls and answers with the call's number.
std::function<std::optional<Combination>(const WorkerSet&)> counting(std::shared_ptr<int> calls) {
  return [calls = std::move(calls)](const WorkerSet&) {
    Combination combination;
    combination.amplification = ++*calls;
    return std::optional(combination);
  };
}

TEST(DecoderCache, AsksOnceForASetWhateverTheOrderOfItsAnswers) {
  const auto calls = std::make_shared<int>(0);
  const auto decode = cached_decoder(counting(calls), 4);
  WorkerSet forward(5);
  WorkerSet backward(5);
  for (const int i : {0, 2, 4}) forward.insert(WorkerId{i});
  for (const int i : {4, 2, 0}) backward.insert(WorkerId{i});
  EXPECT_EQ(decode(forward)->amplification, 1);
  EXPECT_EQ(decode(backward)->amplification, 1);
  EXPECT_EQ(*calls, 1);
}

TEST(DecoderCache, ForgetsTheLeastRecentlyUsedSet) {
  const auto calls = std::make_shared<int>(0);
  const auto decode = cached_decoder(counting(calls), 2);
  decode(from_mask(4, 1));
  decode(from_mask(4, 2));
  decode(from_mask(4, 1));  // 2 is now the older one
  decode(from_mask(4, 3));
  EXPECT_EQ(*calls, 3);
  EXPECT_EQ(decode(from_mask(4, 1))->amplification, 1);
  EXPECT_EQ(*calls, 3);
  EXPECT_EQ(decode(from_mask(4, 2))->amplification, 4);
}

TEST(DecoderCache, RemembersThatASetCannotBeDecoded) {
  int calls = 0;
  const auto decode = cached_decoder(
      [&](const WorkerSet&) {
        ++calls;
        return std::optional<Combination>();
      },
      2);
  EXPECT_FALSE(decode(from_mask(3, 1)).has_value());
  EXPECT_FALSE(decode(from_mask(3, 1)).has_value());
  EXPECT_EQ(calls, 1);
}

TEST(DecoderCache, KeepsFewerSetsWhereTheirVectorsAreLong) {
  constexpr std::size_t kTerms = std::size_t{1} << 20U;  // four fill the cache
  int calls = 0;
  const auto decode = cached_decoder([&](const WorkerSet&) {
    ++calls;
    Combination combination;
    combination.terms.resize(kTerms);
    return std::optional(combination);
  });
  for (unsigned mask = 1; mask <= 5; ++mask) decode(from_mask(3, mask));
  decode(from_mask(3, 2));
  EXPECT_EQ(calls, 5) << "the last four are there";
  decode(from_mask(3, 1));
  EXPECT_EQ(calls, 6) << "the first had to go";
}

TEST(DecoderCache, IsSharedByCopies) {
  const auto calls = std::make_shared<int>(0);
  const auto decode = cached_decoder(counting(calls), 4);
  const auto copy = decode;
  decode(from_mask(3, 5));
  copy(from_mask(3, 5));
  EXPECT_EQ(*calls, 1);
}

TEST(DecoderCache, GivesTheSameVectorBitForBit) {
  for (const char* name : {"cyclic", "mds"}) {
    const CodeRequest request = {.name = name, .workers = 12, .stragglers = 4};
    const auto code = make_code(request).value();
    const auto fresh = make_code(request).value();
    for (unsigned mask = 0; mask < 1U << 12U; mask += 5) {
      const auto first = code.decode(from_mask(12, mask));
      const auto again = code.decode(from_mask(12, mask));
      const auto other = fresh.decode(from_mask(12, mask));
      ASSERT_EQ(first.has_value(), again.has_value());
      ASSERT_EQ(first.has_value(), other.has_value());
      if (!first) continue;
      ASSERT_EQ(first->terms.size(), again->terms.size());
      for (std::size_t i = 0; i < first->terms.size(); ++i) {
        ASSERT_EQ(first->terms[i].weight, again->terms[i].weight);
        ASSERT_EQ(first->terms[i].weight, other->terms[i].weight);
      }
    }
  }
}

TEST(DecoderCache, ServesSeveralThreads) {
  const auto code = make_code({.name = "mds", .workers = 10, .stragglers = 3}).value();
  std::vector<std::jthread> threads;
  std::vector<double> worst(3, 0);
  for (std::size_t t = 0; t < worst.size(); ++t) {
    threads.emplace_back([&worst, t, code] {
      for (unsigned mask = 0; mask < 1U << 10U; ++mask) {
        const auto combination = code.decode(from_mask(10, mask));
        if (combination) worst[t] = std::max(worst[t], combination->amplification);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(worst[0], worst[1]);
  EXPECT_EQ(worst[0], worst[2]);
}

}  // namespace
}  // namespace paceline
