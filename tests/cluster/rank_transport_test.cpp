// The master's side of the wire, with the ranks' frames written by hand.
#include "cluster/rank_transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/memory_link.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;
using test::MemoryHub;
using test::MemoryLink;

constexpr std::size_t kNumbers = 3;

SteadyTime soon() { return std::chrono::steady_clock::now() + milliseconds(20); }

/// Two ranks with two workers each.
class RankTransportTest : public testing::Test {
 protected:
  RankTransport& transport() {
    if (!transport_) {
      RankTransportOptions options;
      options.run = 5;
      options.workers = 4;
      options.workers_per_rank = 2;
      options.message_length = kNumbers;
      options.layout.message_type = type_;
      options.delays = delays_.get();
      transport_.emplace(master_, peers_, std::move(options));
    }
    return *transport_;
  }

  void send(int worker, int round, int version = 0) {
    Order order{WorkerId{worker}, Round{round}, 0, {}};
    order.tasks.push_back({MessageId{WorkerId{worker}, Round{round}, 0},
                           JobId{round},
                           ModelId{0},
                           Version{version},
                           Row({Term{ChunkId{0}}}),
                           0.1});
    transport().send(std::move(order), {parameters_});
    transport().flush();
  }

  /// The rank answers the order with messages of one value.
  void answer(int rank,
              int worker,
              int round,
              float value,
              std::size_t numbers = kNumbers,
              std::uint32_t run = 5) {
    auto frame = std::make_shared<Bytes>();
    FrameWriter out(*frame);
    write(out, AnswerHead{{WorkerId{worker}, Round{round}, 0, Seconds{1}, Seconds{2}}, 1});
    MadeMessage made;
    made.values.assign(numbers, value);
    write_message(out, 0, made, type_);
    seal(*frame, {.run = run});
    MemoryLink(hub_, rank).send(0, frame);
  }

  void acknowledge(int rank, std::uint32_t sequence) {
    auto frame = std::make_shared<Bytes>();
    FrameWriter out(*frame);
    seal(*frame, {.run = 5, .acknowledged = sequence});
    MemoryLink(hub_, rank).send(0, frame);
  }

  /// Worker, round and first number of the next answer; worker -1: none.
  std::tuple<int, int, float> next() {
    Delivery delivery;
    if (!transport().receive(soon(), delivery).value()) return {-1, -1, 0.0F};
    const auto& values = delivery.messages.at(0).made.values;
    EXPECT_EQ(values.size(), kNumbers);
    EXPECT_EQ(delivery.messages[0].id.round, delivery.result.round);
    EXPECT_EQ(delivery.result.compute, Seconds{1});
    EXPECT_EQ(delivery.result.waited, Seconds{2});
    return {delivery.result.worker.value, delivery.result.round.value, values[0]};
  }

  /// Kinds of the records that wait for a rank, those of frames that begin with it.
  int frames_with(int rank, RecordKind kind) {
    int count = 0;
    int from = 0;
    Bytes bytes;
    MemoryLink link(hub_, rank);
    while (link.receive(from, bytes)) {
      auto frame = open_frame(bytes);
      if (!frame->records.done() && frame->records.get<RecordKind>() == kind) ++count;
    }
    return count;
  }

  MemoryHub hub_{3};
  MemoryLink master_{hub_, 0};
  Peers peers_{3, Seconds{0}, {}};
  std::unique_ptr<DelaySource> delays_;
  MessageType type_ = MessageType::kFloat32;
  Parameters parameters_ = std::make_shared<const std::vector<float>>(2, 0.5F);
  std::optional<RankTransport> transport_;
};

TEST_F(RankTransportTest, ALateAnswerNeverBecomesThatOfAnotherRound) {
  send(0, 0);
  transport().stop(WorkerId{0}, Round{0});
  send(0, 1);
  answer(1, 0, 0, 7.0F);
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  EXPECT_EQ(transport().traffic().late, 1);
  answer(1, 0, 1, 8.0F);
  EXPECT_EQ(next(), std::tuple(0, 1, 8.0F));
  EXPECT_EQ(transport().outstanding(), 0);
}

TEST_F(RankTransportTest, AnAnswerThatIsHereAndStoppedIsNotDelivered) {
  send(0, 0);
  send(1, 0);
  answer(1, 0, 0, 1.0F);
  answer(1, 1, 0, 2.0F);
  EXPECT_EQ(next(), std::tuple(0, 0, 1.0F));
  transport().stop(WorkerId{1}, Round{0});
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  EXPECT_EQ(transport().outstanding(), 0);
}

TEST_F(RankTransportTest, OnlyTheRankOfAWorkerAnswersForIt) {
  send(0, 0);
  answer(2, 0, 0, 1.0F);
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  answer(1, 0, 0, 2.0F);
  EXPECT_EQ(next(), std::tuple(0, 0, 2.0F));
}

TEST_F(RankTransportTest, AnswersOfAnEarlierRunAreLate) {
  send(0, 0);
  answer(1, 0, 0, 1.0F, kNumbers, 4);
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  EXPECT_EQ(transport().traffic().late, 1);
}

TEST_F(RankTransportTest, MessagesOf16BitsArriveAsTheyWereRounded) {
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    type_ = type;
    transport_.reset();
    std::vector<float> number = {1e6F / 3};
    round_message(type, number);
    send(0, 1);
    answer(1, 0, 1, number[0]);
    EXPECT_EQ(next(), std::tuple(0, 1, number[0]));
  }
}

TEST_F(RankTransportTest, WhatFollowsALateAnswerInItsFrameIsTaken) {
  for (const MessageType type : {MessageType::kFloat32, MessageType::kFloat16}) {
    type_ = type;
    transport_.reset();
    send(0, 0);
    send(1, 0);
    transport().stop(WorkerId{0}, Round{0});
    auto frame = std::make_shared<Bytes>();
    FrameWriter out(*frame);
    for (const int worker : {0, 1}) {
      write(out, AnswerHead{{WorkerId{worker}, Round{0}, 0, Seconds{1}, Seconds{2}}, 1});
      MadeMessage made;
      made.values.assign(kNumbers, 5.0F);
      write_message(out, 0, made, type);
    }
    seal(*frame, {.run = 5});
    MemoryLink(hub_, 1).send(0, frame);
    EXPECT_EQ(next(), std::tuple(1, 0, 5.0F));
    EXPECT_EQ(transport().traffic().late, 1);
    EXPECT_EQ(transport().traffic().damaged, 0);
  }
}

TEST_F(RankTransportTest, AMessageOfAnotherLengthEndsTheRun) {
  send(3, 0);
  answer(2, 3, 0, 1.0F, kNumbers + 1);
  Delivery delivery;
  const auto received = transport().receive(soon(), delivery);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().message,
            "worker 3: a message of 4 numbers came where 3 were expected");
}

TEST_F(RankTransportTest, ParametersGoOutOncePerVersionAndRank) {
  send(0, 0, 0);
  send(1, 0, 0);
  send(0, 1, 1);
  EXPECT_EQ(frames_with(1, RecordKind::kParameters), 2);
  EXPECT_EQ(frames_with(2, RecordKind::kParameters), 0);
}

TEST_F(RankTransportTest, WhatARankDoesNotAcknowledgeIsBoundedAndStopsTakeOutTheRest) {
  for (int round = 0; round < 100; ++round) send(0, round);
  EXPECT_EQ(frames_with(1, RecordKind::kOrder), 31) << "32 frames, of which one began the run";
  for (int round = 0; round < 99; ++round) transport().stop(WorkerId{0}, Round{round});
  acknowledge(1, 32);
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  // What is left of rounds 31 ... 98 is nothing: one frame with 31 stops and the last order.
  EXPECT_EQ(hub_.waiting(1), 1U);
  answer(1, 0, 99, 3.0F);
  EXPECT_EQ(next(), std::tuple(0, 99, 3.0F));
}

TEST_F(RankTransportTest, WaitsForAnOrderInADamagedFrameNoLongerThanForASilentRank) {
  peers_ = Peers{3, Seconds{0.05}, {}};
  send(0, 0);
  auto frame = std::make_shared<Bytes>();
  FrameWriter out(*frame);
  write_text(out, RecordKind::kDamaged, "wrong checksum");
  seal(*frame, {.run = 5, .acknowledged = 1});
  MemoryLink(hub_, 1).send(0, frame);
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  EXPECT_TRUE(transport().awaits_answer());
  std::this_thread::sleep_for(milliseconds(60));
  acknowledge(1, 1);  // the rank is there
  EXPECT_EQ(next(), std::tuple(-1, -1, 0.0F));
  EXPECT_FALSE(transport().awaits_answer());
  EXPECT_EQ(transport().losses(), "1 order to rank 1 went astray in damaged messages");
  // What was sent after the damage, and has arrived, is waited for; an answer is taken all the
  // same.
  send(1, 0);
  EXPECT_TRUE(transport().awaits_answer());
  answer(1, 0, 0, 4.0F);
  EXPECT_EQ(next(), std::tuple(0, 0, 4.0F));
}

TEST_F(RankTransportTest, KnowsWhatWillNeverBeAnswered) {
  delays_ = std::make_unique<test::ScriptedDelays>(4, [](int, int worker) {
    return worker == 0 ? std::numeric_limits<double>::infinity() : 1.0;
  });
  EXPECT_FALSE(transport().awaits_answer());
  send(0, 0);
  EXPECT_FALSE(transport().awaits_answer());
  send(1, 0);
  EXPECT_TRUE(transport().awaits_answer());
}

}  // namespace
}  // namespace paceline
