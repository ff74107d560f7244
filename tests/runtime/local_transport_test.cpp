#include "runtime/local_transport.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <limits>
#include <vector>

#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;

SteadyTime now() { return std::chrono::steady_clock::now(); }

SteadyTime soon() { return now() + std::chrono::seconds(20); }

Order order(int worker, int round, int tasks = 1, bool with_row = true) {
  Order made{WorkerId{worker}, Round{round}, 0, {}};
  for (int k = 0; k < tasks; ++k) {
    const Row row = with_row ? Row({Term{ChunkId{0}}}) : Row();
    made.tasks.push_back({MessageId{WorkerId{worker}, Round{round}, k},
                          JobId{round},
                          ModelId{0},
                          Version{0},
                          row,
                          1});
  }
  return made;
}

class LocalTransportTest : public testing::Test {
 protected:
  // Makes the transport of 8 workers with times in milliseconds.
  LocalTransport& with(test::ScriptedDelays::Script script,
                       test::QuadraticSource::Hook hook = {},
                       int slots = 2) {
    std::vector<std::unique_ptr<GradientSource>> sources;
    sources.push_back(std::make_unique<test::QuadraticSource>(std::move(hook)));
    pool_ = std::make_unique<ComputePool>(slots, sources);
    if (script) delays_ = std::make_unique<test::ScriptedDelays>(8, std::move(script));
    transport_ = std::make_unique<LocalTransport>(
        *pool_, 8, MessageLayout{{0, test::kBatch}, 1, 1}, sampler_, delays_.get());
    return *transport_;
  }

  void send(Order what) {
    std::vector<Parameters> read(what.tasks.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      if (!what.tasks[k].row.terms().empty()) read[k] = parameters_;
    }
    transport_->send(std::move(what), std::move(read));
  }

  // The next answer's worker and round; -1, -1 if there is none by the deadline.
  std::pair<int, int> next(SteadyTime deadline) {
    const auto received = transport_->receive(deadline, delivery_);
    if (!received || !*received) return {-1, -1};
    return {delivery_.result.worker.value, delivery_.result.round.value};
  }

  Parameters parameters_ = std::make_shared<const std::vector<float>>(test::kLength, 1.0F);
  test::CircularSampler sampler_;
  std::unique_ptr<test::ScriptedDelays> delays_;
  std::unique_ptr<ComputePool> pool_;
  std::unique_ptr<LocalTransport> transport_;
  Delivery delivery_;
};

TEST_F(LocalTransportTest, DeliversInTheOrderOfInjectedTimesAndNotBefore) {
  with([](int, int worker) { return worker == 0 ? 60.0 : 20.0 * worker; });
  const SteadyTime begin = now();
  for (const int worker : {0, 1, 2}) send(order(worker, 0));
  EXPECT_EQ(next(soon()), std::pair(1, 0));
  EXPECT_GE(now() - begin, milliseconds(20));
  EXPECT_EQ(next(soon()), std::pair(2, 0));
  EXPECT_GE(now() - begin, milliseconds(40));
  EXPECT_EQ(next(soon()), std::pair(0, 0));
  EXPECT_GE(now() - begin, milliseconds(60));
}

TEST_F(LocalTransportTest, StopsWaitingAtTheDeadline) {
  with([](int, int) { return 1e9; });
  send(order(0, 0));
  const SteadyTime deadline = now() + milliseconds(20);
  EXPECT_EQ(next(deadline), std::pair(-1, -1));
  EXPECT_GE(now(), deadline);
}

TEST_F(LocalTransportTest, AnswersCarryAMessageForEveryTaskWithARow) {
  with([](int, int) { return 1.0; });
  send(order(3, 5, 2));
  ASSERT_EQ(next(soon()), std::pair(3, 5));
  ASSERT_EQ(delivery_.messages.size(), 2U);
  EXPECT_EQ(delivery_.messages[1].id, (MessageId{WorkerId{3}, Round{5}, 1}));
  EXPECT_EQ(delivery_.messages[1].made.samples, test::kBatch);
  std::vector<int> batch(test::kBatch);
  sampler_.batch(ModelId{0}, Version{0}, batch);
  std::vector<float> direct(test::kLength, 0.0F);
  const std::vector<float> ones(test::kBatch, 1.0F);
  test::QuadraticSource().add_gradient(*parameters_, batch, ones, direct);
  for (std::size_t j = 0; j < direct.size(); ++j) {
    EXPECT_NEAR(delivery_.messages[1].made.values[j], direct[j], 1e-4);
  }
}

TEST_F(LocalTransportTest, EmptyRowsTakeTheirTimeButNoComputing) {
  std::atomic<int> calls{0};
  with([](int, int) { return 20.0; }, [&](auto, auto) { ++calls; });
  const SteadyTime begin = now();
  send(order(0, 0, 1, false));
  EXPECT_EQ(next(soon()), std::pair(0, 0));
  EXPECT_GE(now() - begin, milliseconds(20));
  EXPECT_TRUE(delivery_.messages.empty());
  EXPECT_EQ(calls, 0);
}

TEST_F(LocalTransportTest, AWorkerBeginsAnOrderWhenItHasAnsweredTheOneBefore) {
  with([](int round, int) { return round == 0 ? 40.0 : 30.0; });
  const SteadyTime begin = now();
  send(order(0, 0));
  send(order(0, 1));
  EXPECT_EQ(transport_->outstanding(), 2);
  EXPECT_EQ(next(soon()), std::pair(0, 0));
  EXPECT_EQ(delivery_.result.waited, Seconds{0});
  EXPECT_EQ(next(soon()), std::pair(0, 1));
  EXPECT_GT(delivery_.result.waited, Seconds{0}) << "for the first order";
  EXPECT_LT(delivery_.result.waited, Seconds(now() - begin) - milliseconds(30));
  EXPECT_GE(now() - begin, milliseconds(70));
  EXPECT_EQ(transport_->outstanding(), 0);
}

TEST_F(LocalTransportTest, AStopFreesTheWorkerForTheNextOrder) {
  with([](int round, int) { return round == 0 ? 1e7 : 10.0; });
  send(order(0, 0));
  send(order(0, 1));
  send(order(0, 0));  // behind both
  transport_->stop(WorkerId{0}, Round{0});
  EXPECT_EQ(transport_->outstanding(), 1);
  EXPECT_EQ(next(soon()), std::pair(0, 1));
  EXPECT_EQ(next(now() + milliseconds(5)), std::pair(-1, -1));
}

TEST_F(LocalTransportTest, AStopFreesAWorkerThatWouldNeverAnswer) {
  with([](int round, int) { return round == 0 ? std::numeric_limits<double>::infinity() : 1.0; });
  send(order(0, 0));
  send(order(0, 1));
  EXPECT_FALSE(transport_->awaits_answer());
  transport_->stop(WorkerId{0}, Round{0});
  EXPECT_TRUE(transport_->awaits_answer());
  EXPECT_EQ(next(soon()), std::pair(0, 1));
}

TEST_F(LocalTransportTest, AStopReachesAnOrderThatIsBeingComputed) {
  std::latch computing{1}, stopped{1};
  std::atomic<int> calls{0};
  with([](int, int) { return 1.0; },
       [&](auto, auto) {
         if (++calls > 1) return;
         computing.count_down();
         stopped.wait();
       },
       1);
  send(order(0, 0));
  computing.wait();
  send(order(1, 0));  // waits for the only slot
  send(order(2, 0));
  transport_->stop(WorkerId{0}, Round{0});
  transport_->stop(WorkerId{1}, Round{0});
  stopped.count_down();
  EXPECT_EQ(next(soon()), std::pair(2, 0));
  // One micro-batch of worker 0, nothing of worker 1, all 24 samples of worker 2.
  EXPECT_EQ(calls, 1 + test::kBatch);
  EXPECT_EQ(transport_->outstanding(), 0);
}

TEST_F(LocalTransportTest, AStoppedAnswerThatWaitsForItsTimeIsNeverDelivered) {
  with([](int, int worker) { return worker == 0 ? 40.0 : 20.0; });
  send(order(0, 0));
  send(order(1, 0));
  EXPECT_EQ(next(soon()), std::pair(1, 0));
  transport_->stop(WorkerId{0}, Round{0});
  EXPECT_EQ(next(now() + milliseconds(40)), std::pair(-1, -1));
}

TEST_F(LocalTransportTest, NobodyHoldsParametersOnceAnOrderIsOver) {
  with([](int, int) { return 2.0; });
  for (int round = 0; round < 3; ++round) {
    send(order(0, round));
    send(order(1, round));
    EXPECT_NE(next(soon()).first, -1);
    transport_->stop(WorkerId{0}, Round{round});
    transport_->stop(WorkerId{1}, Round{round});
  }
  pool_->close();  // whoever is still computing notices the stop
  EXPECT_EQ(next(now()), std::pair(-1, -1));
  EXPECT_EQ(parameters_.use_count(), 1);
}

TEST_F(LocalTransportTest, WithoutInjectionAnAnswerIsGivenAndTimedAsItIsComputed) {
  with({}, [](auto, auto) {
    const SteadyTime end = now() + milliseconds(1);
    while (now() < end) {
    }
  });
  const SteadyTime begin = now();
  send(order(0, 0));
  EXPECT_EQ(next(soon()), std::pair(0, 0));
  EXPECT_GE(delivery_.result.compute, Seconds(0.001 * test::kBatch));
  EXPECT_LE(delivery_.result.compute, Seconds(now() - begin));
  EXPECT_EQ(transport_->overruns(), 0);
}

TEST_F(LocalTransportTest, CountsAnswersThatComputingMadeLate) {
  with([](int, int worker) { return worker == 0 ? 2.0 : 2000.0; },
       [](auto, auto) {
         const SteadyTime end = now() + milliseconds(1);
         while (now() < end) {
         }
       },
       1);
  send(order(0, 0));
  send(order(1, 0));
  EXPECT_EQ(next(soon()), std::pair(0, 0));
  transport_->stop(WorkerId{1}, Round{0});
  EXPECT_EQ(transport_->overruns(), 1);
}

TEST_F(LocalTransportTest, TheFirstFailureOfAWorkerNamesWorkerJobAndCause) {
  with([](int, int worker) { return worker == 3 ? 1.0 : 50.0; },
       [](std::span<const int> samples, auto) {
         if (samples[0] == 5) throw std::runtime_error("the disk is gone");
       },
       1);
  send(order(3, 0));
  send(order(4, 0));
  const auto received = transport_->receive(soon(), delivery_);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kFailed);
  EXPECT_EQ(received.error().message, "worker 3, job 0: the disk is gone");
}

}  // namespace
}  // namespace paceline
