// How gradients, messages and all that a bank holds are shared by servers.
#include "cluster/shard_map.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cluster/shard_inbox.hpp"
#include "cluster/shard_records.hpp"
#include "paceline/cluster.hpp"
#include "paceline/message_maker.hpp"

namespace paceline {
namespace {

std::vector<float> counting(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(ShardMap, EveryNumberHasOnePlaceAndComesBack) {
  for (std::size_t length = 1; length <= 23; ++length) {
    for (int parts = 1; parts <= 4; ++parts) {
      const MessageShape shape{parts};
      for (int shards = 1; check_servers_fit(length, shape, shards); ++shards) {
        const ShardMap map(length, shape, shards);
        const std::vector<float> whole = counting(length);
        std::vector<float> back(length);
        std::size_t slices = 0;
        double sum = 0;
        for (int shard = 0; shard < shards; ++shard) {
          std::vector<float> slice;
          map.cut(std::span<const float>(whole), shard, parts, slice);
          EXPECT_EQ(slice.size(), map.slice_length(shard));
          EXPECT_GT(slice.size(), 0U);
          slices += slice.size();
          sum += std::accumulate(slice.begin(), slice.end(), 0.0);
          map.place(std::span<const float>(slice), shard, parts, std::span<float>(back));
        }
        EXPECT_EQ(slices, padded_length(length, parts)) << "nothing lies in two slices";
        EXPECT_EQ(sum, static_cast<double>(length * (length + 1)) / 2);
        EXPECT_EQ(back, whole);
      }
    }
  }
}

TEST(ShardMap, PartsAndSegmentsAreCutAtTheSamePlaces) {
  // d = 8 in 2 parts of 4; a message has one segment of 4. Server 1 of 2 has the later halves.
  const ShardMap map(8, MessageShape{2, 1}, 2);
  std::vector<float> slice;
  map.cut(std::span<const float>(counting(8)), 1, 2, slice);
  EXPECT_EQ(slice, (std::vector<float>{3, 4, 7, 8}));
  map.cut(std::span<const float>(counting(4)), 1, 1, slice);
  EXPECT_EQ(slice, (std::vector<float>{3, 4}));
  EXPECT_EQ(map.message_length(1), 2U);
}

TEST(ShardMap, MoreServersThanNumbersOfAPartAreRefused) {
  EXPECT_TRUE(check_servers_fit(5, MessageShape{1}, 5));
  EXPECT_EQ(check_servers_fit(5, MessageShape{1}, 6).error().message,
            "servers=6 is not allowed for 5 parameters; 1 ... 5");
  EXPECT_EQ(check_servers_fit(5, MessageShape{2}, 4).error().message,
            "servers=4 is not allowed for 5 parameters that the code cuts into 2 parts; 1 ... 3");
}

TEST(ShardMap, WhatABankHoldsIsWholeAgainAfterItWasCutWrittenAndRead) {
  const MessageShape shape{2, 3};
  BankState whole;
  whole.models.push_back({Version{4},
                          std::make_shared<const std::vector<float>>(counting(7)),
                          {9, {counting(7), {}}}});
  whole.messages.push_back({MessageId{WorkerId{3}, Round{2}, 1}, counting(12), 0.5, 6});
  whole.open.push_back(
      {JobId{5}, {1, 2, 3, 4, 5, 6, 7, 8}, {MessageId{WorkerId{1}, Round{2}, 0}}, 0.25, 3});
  whole.open.push_back({JobId{6}, {}, {}, 0, 0});
  for (int shards = 1; shards <= 4; ++shards) {
    const ShardMap map(7, shape, shards);
    std::vector<BankState> slices;
    for (int shard = 0; shard < shards; ++shard) {
      const BankState slice = cut(map, whole, shard);
      Bytes bytes;
      FrameWriter out(bytes);
      for (const auto& model : slice.models) write_model(out, model);
      for (const auto& message : slice.messages) write_stored(out, message);
      for (const auto& job : slice.open) write_open(out, job);
      seal(bytes, {});
      FrameReader in = open_frame(bytes)->records;
      BankState& read = slices.emplace_back();
      while (!in.done()) ASSERT_TRUE(read_state_record(in.get<RecordKind>(), in, read));
      ASSERT_TRUE(in.good());
    }
    const BankState back = join(map, slices);
    ASSERT_EQ(back.models.size(), 1U);
    EXPECT_EQ(back.models[0].version, Version{4});
    EXPECT_EQ(*back.models[0].parameters, *whole.models[0].parameters);
    EXPECT_EQ(back.models[0].optimizer.steps, 9);
    EXPECT_EQ(back.models[0].optimizer.arrays, whole.models[0].optimizer.arrays);
    ASSERT_EQ(back.messages.size(), 1U);
    EXPECT_EQ(back.messages[0].id, whole.messages[0].id);
    EXPECT_EQ(back.messages[0].values, whole.messages[0].values);
    EXPECT_EQ(back.messages[0].samples, 6);
    ASSERT_EQ(back.open.size(), 2U);
    EXPECT_EQ(back.open[0].sum, whole.open[0].sum);
    EXPECT_EQ(back.open[0].counted, whole.open[0].counted);
    EXPECT_TRUE(back.open[1].sum.empty());
  }
}

/// A rank with two servers, one model of four numbers.
class ShardInboxTest : public testing::Test {
 protected:
  bool take(int server, int version) {
    return inbox.take(server, {ModelId{0}, Version{version}, {0.25F, 0.5F}});
  }

  void hold(int worker, int round, int reads) {
    Order order{WorkerId{worker}, Round{round}, 0, {}};
    order.tasks.push_back({{}, {}, ModelId{0}, Version{reads}, Row({Term{ChunkId{0}}}), 0});
    inbox.hold(std::move(order));
  }

  /// Round of the next order that may begin; -1: none.
  int next() {
    const auto ready = inbox.next();
    return ready ? ready->order.round.value : -1;
  }

  ShardInbox inbox{ShardMap(4, {}, 2), 1};
};

TEST_F(ShardInboxTest, AnOrderWaitsForAllSlicesOfWhatItReads) {
  hold(0, 5, 1);
  take(1, 1);
  EXPECT_EQ(next(), -1);
  take(2, 0);
  take(1, 1);
  EXPECT_EQ(next(), -1) << "the same slice twice, and one of another version";
  take(2, 1);
  EXPECT_EQ(next(), 5);
  EXPECT_EQ(next(), -1);
}

TEST_F(ShardInboxTest, SlicesMayComeBeforeTheOrderAndOutOfOrder) {
  for (const int version : {1, 2}) take(2, version);
  for (const int version : {1, 2}) take(1, version);
  hold(0, 1, 1);
  hold(0, 2, 2);
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 2);
}

TEST_F(ShardInboxTest, AWorkersOrdersKeepTheirOrderAndOthersPass) {
  hold(0, 1, 1);
  hold(0, 2, 0);
  hold(1, 3, 0);
  take(1, 0);
  take(2, 0);
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(next(), -1) << "worker 0 is still at round 1";
  inbox.stop(WorkerId{0}, Round{1});
  EXPECT_EQ(next(), 2);
}

TEST_F(ShardInboxTest, AnOrderWhoseVersionIsLongGoneHoldsNobodyUp) {
  for (const int version : {1, 2, 3}) {
    take(1, version);
    take(2, version);
  }
  hold(0, 1, 1);
  hold(0, 2, 3);
  EXPECT_EQ(next(), 2);
}

TEST_F(ShardInboxTest, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(take(3, 0));
  EXPECT_FALSE(inbox.take(1, {ModelId{1}, Version{0}, {1, 2}}));
  EXPECT_FALSE(inbox.take(1, {ModelId{0}, Version{0}, {1, 2, 3}}));
}

}  // namespace
}  // namespace paceline
