#include "cluster/frame.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cluster/buffer_ring.hpp"
#include "cluster/records.hpp"

namespace paceline {
namespace {

Bytes sample_frame() {
  Bytes bytes;
  FrameWriter out(bytes);
  out.put(RecordKind::kStop);
  out.put_text("what");
  const std::array<float, 3> values{1.5F, -2.0F, 3.25F};
  out.put_all(std::span<const float>(values));
  seal(bytes, {.run = 3, .sequence = 9, .acknowledged = 4});
  return bytes;
}

TEST(Frame, GivesBackWhatWasWritten) {
  const Bytes bytes = sample_frame();
  auto frame = open_frame(bytes);
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(frame->header.run, 3U);
  EXPECT_EQ(frame->header.sequence, 9U);
  EXPECT_EQ(frame->header.acknowledged, 4U);
  EXPECT_EQ(frame->records.get<RecordKind>(), RecordKind::kStop);
  EXPECT_EQ(frame->records.get_text(), "what");
  std::array<float, 3> values{};
  frame->records.get_all(std::span<float>(values));
  EXPECT_EQ(values, (std::array<float, 3>{1.5F, -2.0F, 3.25F}));
  EXPECT_TRUE(frame->records.good());
  EXPECT_TRUE(frame->records.done());
}

TEST(Frame, EveryFlippedBitIsNoticed) {
  const Bytes good = sample_frame();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] ^= std::byte{1} << bit;
      EXPECT_FALSE(open_frame(bad)) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(Frame, EveryOtherLengthIsNoticed) {
  const Bytes good = sample_frame();
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(open_frame(std::span(good).first(length))) << length << " bytes";
  }
  Bytes longer = good;
  longer.push_back({});
  EXPECT_FALSE(open_frame(longer));
}

TEST(Frame, ReadingPastTheEndGivesZerosAndIsNoticed) {
  Bytes bytes;
  FrameWriter out(bytes);
  out.put(std::uint16_t{7});
  seal(bytes, {});
  auto frame = open_frame(bytes);
  EXPECT_EQ(frame->records.get<std::uint32_t>(), 0U);
  EXPECT_FALSE(frame->records.good());
}

TEST(Frame, ACountThatCannotBeTrueAllocatesNothing) {
  Bytes bytes;
  FrameWriter out(bytes);
  out.put(std::uint32_t{0xFFFFFFFF});
  out.put(1.0);
  seal(bytes, {});
  auto frame = open_frame(bytes);
  EXPECT_EQ(frame->records.get_count(sizeof(double)), 0U);
  EXPECT_FALSE(frame->records.good());
}

TEST(Records, AnOrderComesOutAsItWentIn) {
  Order order{WorkerId{3}, Round{7}, 1, {}, Seconds{0.125}, Seconds{0.0625}, 0.75};
  order.tasks.push_back({MessageId{WorkerId{3}, Round{7}, 2},
                         JobId{4},
                         ModelId{1},
                         Version{5},
                         Row({Term{ChunkId{2}, 0.1, 1, 0, 3}, Term{ChunkId{9}}}),
                         0.25});
  order.tasks.push_back(
      {MessageId{WorkerId{3}, Round{7}, 3}, JobId{5}, ModelId{0}, Version{6}, Row(), 0.5});
  Bytes bytes;
  FrameWriter out(bytes);
  write(out, order);
  seal(bytes, {});
  FrameReader in = open_frame(bytes)->records;
  ASSERT_EQ(in.get<RecordKind>(), RecordKind::kOrder);
  const Order read = read_order(in);
  EXPECT_TRUE(in.good() && in.done());
  EXPECT_EQ(read.worker, order.worker);
  EXPECT_EQ(read.age, order.age);
  EXPECT_EQ(read.waited, order.waited);
  EXPECT_EQ(read.round, order.round);
  EXPECT_EQ(read.dispatch, order.dispatch);
  EXPECT_EQ(read.ahead, order.ahead);
  ASSERT_EQ(read.tasks.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(read.tasks[k].id, order.tasks[k].id);
    EXPECT_EQ(read.tasks[k].job, order.tasks[k].job);
    EXPECT_EQ(read.tasks[k].model, order.tasks[k].model);
    EXPECT_EQ(read.tasks[k].reads, order.tasks[k].reads);
    EXPECT_EQ(read.tasks[k].load, order.tasks[k].load);
    const auto terms = read.tasks[k].row.terms();
    const auto expected = order.tasks[k].row.terms();
    EXPECT_TRUE(std::equal(terms.begin(), terms.end(), expected.begin(), expected.end()));
  }
}

TEST(BufferRing, NeverHandsOutABufferThatSomebodyReads) {
  BufferRing ring;
  auto first = ring.take();
  std::shared_ptr<const Bytes> reader = first;
  const Bytes* read = first.get();
  first.reset();
  for (int i = 0; i < 5; ++i) EXPECT_NE(ring.take().get(), read);
  EXPECT_EQ(ring.size(), 2U);
  reader.reset();
  const auto a = ring.take(), b = ring.take();
  EXPECT_NE(a, b);
  EXPECT_EQ(ring.size(), 2U);
}

}  // namespace
}  // namespace paceline
