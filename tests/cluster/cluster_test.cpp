// Runs on several ranks, threads here, and what faults cost them.
#include "paceline/cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "cluster/cluster_support.hpp"
#include "cluster/peers.hpp"

namespace paceline {
namespace {

using test::Cluster;
using test::MemoryHub;
using test::MemoryLink;
using test::play;
using test::ScriptedDelays;
using test::TrainingRun;

TEST(Cluster, MakesTheSameWeightsAsOneProcessBitForBit) {
  TrainingRun local(6, 6);
  ASSERT_TRUE(local.go());
  TrainingRun run(6, 6);
  run.options.verify = true;
  Cluster cluster(4, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const auto result = play(run, cluster.master());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(run.weights, local.weights);
  EXPECT_EQ(run.losses, local.losses);
  EXPECT_EQ(result->jobs, 6);
  EXPECT_EQ(result->messages, 36);
  EXPECT_EQ(result->verified, 6);
  EXPECT_EQ(result->bytes_per_round, 6 * test::kLength * sizeof(float));
  EXPECT_GT(cluster.master().traffic().bytes_received_per_round, result->bytes_per_round);
  EXPECT_EQ(cluster.master().traffic().late, 0);
  EXPECT_EQ(cluster.master().traffic().damaged, 0);
  ASSERT_TRUE(cluster.master().end(7));
  for (auto& rank : cluster.served()) EXPECT_EQ(rank.get().value(), 7);
}

TEST(Cluster, MessagesOf16BitsMakeTheSameWeightsAsInOneProcessBitForBit) {
  for (const MessageType type :
       {MessageType::kFloat32, MessageType::kFloat16, MessageType::kBfloat16}) {
    TrainingRun local(6, 6);
    local.options.message_type = type;
    ASSERT_TRUE(local.go());
    TrainingRun run(6, 6);
    run.options.message_type = type;
    Cluster cluster(4, run);
    ASSERT_TRUE(cluster.master().admit({"1.0"}));
    const auto result = play(run, cluster.master());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(run.weights, local.weights);
    EXPECT_EQ(result->bytes_per_round, static_cast<double>(6 * test::kLength * bytes_of(type)));
    EXPECT_TRUE(cluster.master().end(0));
  }
}

TEST(Cluster, PlaysSeveralRunsAfterOneAnother) {
  TrainingRun first(6, 3), second(6, 6);
  Cluster cluster(3, first);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  for (TrainingRun* run : {&first, &second}) {
    const auto result = play(*run, cluster.master());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_LT(test::distance(run->weights, run->expected_weights()), 1e-6);
  }
  ASSERT_TRUE(cluster.master().end(0));
}

TEST(Cluster, InjectedStragglersCostNothingWhereACodeCoversThem) {
  TrainingRun run(6, 3);
  const ScriptedDelays delays(
      6, [](int round, int worker) { return worker == round % 6 ? 1e7 : 3.0 + worker; });
  run.options.delays = &delays;
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const auto result = play(run, cluster.master());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_LT(result->total, Seconds(2));
  EXPECT_GE(result->mean_stragglers, 1);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Cluster, AFrozenRankIsAStraggler) {
  // Worker i is in group i mod 3 and on rank 1 + i / 3: any two ranks hold all groups.
  TrainingRun run(9, 3);
  run.rounds.jobs = 30;
  Cluster cluster(4, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  run.options.observer = [&](const RoundReport& report) {
    if (report.record->round.value == 4) cluster.hub.freeze(2);
    if (report.record->round.value == 20) cluster.hub.thaw(2);
  };
  const auto result = play(run, cluster.master());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_LT(result->total, Seconds(2));
  EXPECT_TRUE(cluster.master().end(0)) << "it is there again";
}

TEST(Cluster, ARankThatStaysFrozenGetsABoundedNumberOfFrames) {
  TrainingRun run(9, 3);
  run.rounds.jobs = 200;
  Cluster cluster(4, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  run.options.observer = [&](const RoundReport& report) {
    if (report.record->round.value == 4) cluster.hub.freeze(2);
  };
  const auto result = play(run, cluster.master());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_LT(cluster.hub.waiting(2), 32 * 3 + 10) << "a window of frames with their parameters";
  const auto ended = cluster.master().end(0, true);
  cluster.hub.thaw(2);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().message.find("rank 2 ("), std::string::npos) << ended.error().message;
  EXPECT_EQ(ended.error().message.find("rank 1 ("), std::string::npos);
}

TEST(Cluster, WithoutARankThatIsNeededTheRunEndsAndNamesIt) {
  TrainingRun run(4, 4);
  Cluster cluster(3, run);
  ClusterMaster& master = cluster.master(Seconds(0.6));
  ASSERT_TRUE(master.admit({"1.0"}));
  run.options.observer = [&](const RoundReport&) { cluster.hub.freeze(1); };
  const auto result = play(run, master);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_NE(result.error().message.find("will never be answered: rank 1 ("), std::string::npos)
      << result.error().message;
  EXPECT_NE(result.error().message.find("is silent"), std::string::npos);
  EXPECT_NE(cluster.notices_text().find("counts as lost"), std::string::npos);
  cluster.hub.thaw(1);
  EXPECT_TRUE(master.end(1));
}

TEST(Cluster, DamagedAndShortenedAnswersAreCountedAndAreNoAnswers) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 20;
  // Each rank holds a worker of every group. Rank 2 is the quick one; what it loses comes from
  // rank 1.
  const ScriptedDelays delays(6, [](int, int worker) { return worker < 3 ? 12.0 : 2.0; });
  run.options.delays = &delays;
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int from, int, Bytes& frame) {
    if (from != 2 || frame.size() < 80) return 1;
    const int number = ++frames;
    if (number % 3 == 0) frame[frame.size() / 2] ^= std::byte{4};
    if (number % 3 == 1) frame.resize(frame.size() - 3);
    return 1;
  });
  const auto result = play(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_GE(cluster.master().traffic().damaged, 1);
  EXPECT_NE(cluster.notices_text().find("a message of rank 2 ("), std::string::npos);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Cluster, ADamagedOrderIsOneThatNobodyAnswers) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 20;
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int, int to, Bytes& frame) {
    if (to == 2 && ++frames % 4 == 3) frame.back() ^= std::byte{1};
    return 1;
  });
  const auto result = play(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Cluster, WithoutAnOrderThatWasDamagedAndIsNeededTheRunEndsAndSaysSo) {
  TrainingRun run(4, 4);
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master(Seconds(0.4)).admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int, int to, Bytes& frame) {
    if (to == 2 && ++frames == 5) frame.back() ^= std::byte{1};
    return 1;
  });
  const auto result = play(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("to rank 2 ("), std::string::npos)
      << result.error().message;
  EXPECT_NE(result.error().message.find("went astray in damaged messages"), std::string::npos);
  EXPECT_TRUE(cluster.master().end(1));
}

TEST(Cluster, TwoAnswersForOneTaskCountOnce) {
  TrainingRun run(4, 4);
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  cluster.hub.set_fault([](int from, int, Bytes&) { return from == 0 ? 1 : 2; });
  const auto result = play(run, cluster.master());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->messages, 24);
  EXPECT_LT(test::distance(run.weights, run.expected_weights()), 1e-6);
  EXPECT_GE(cluster.master().traffic().late, 1);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Cluster, TheFirstFailureOfAWorkerNamesWorkerJobAndCause) {
  TrainingRun run(4, 4);
  run.hook = [](std::span<const int> samples, auto) {
    if (samples[0] == 18) throw std::runtime_error("the disk is gone");
  };
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const auto result = play(run, cluster.master());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "worker 3, job 0: the disk is gone");
  EXPECT_TRUE(cluster.master().end(1));
}

TEST(Cluster, AnInterruptionEndsTheRun) {
  TrainingRun run(4, 4);
  const ScriptedDelays delays(4, [](int, int) { return 5000.0; });
  run.options.delays = &delays;
  Cluster cluster(3, run);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<bool> stop{false};
  run.options.interrupted = &stop;
  auto later = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  const SteadyTime begin = std::chrono::steady_clock::now();
  const auto result = play(run, cluster.master());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
  EXPECT_TRUE(cluster.master().end(130, true));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

std::string refusal(const Member& mine, const Member& theirs) {
  const TrainingRun run(4, 4);
  Cluster cluster(2, run, theirs);
  const auto admitted = cluster.master().admit(mine);
  EXPECT_TRUE(cluster.master().end(2));
  return admitted ? "admitted" : admitted.error().message;
}

TEST(Cluster, AdmitsOnlyRanksThatAgree) {
  EXPECT_EQ(refusal({"1.0", 5, 6}, {"1.0", 5, 6}), "admitted");
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(
      holds, refusal({"1.1"}, {"1.0"}), "runs paceline 1.0 (protocol 4) and the master 1.1");
  EXPECT_PRED2(holds, refusal({"1.0", 1}, {"1.0", 2}), "other options than the master");
  EXPECT_PRED2(holds, refusal({"1.0", 1, 1}, {"1.0", 1, 2}), "other training data");
  EXPECT_PRED2(holds, refusal({"1.0"}, {"1.0", 0, 0, "no such file"}), ") no such file");
}

TEST(Cluster, ARankThatDoesNotJoinIsNamed) {
  MemoryHub hub(3);
  MemoryLink link(hub, 0);
  ClusterMaster master(link, {.join_limit = Seconds(0.05)});
  const auto admitted = master.admit({"1.0"});
  ASSERT_FALSE(admitted);
  EXPECT_EQ(admitted.error().message, "rank 1, rank 2: has not joined within 0.05 s");
}

TEST(Cluster, WorkersAreSpreadOverRanks) {
  EXPECT_EQ(workers_per_rank(256, 5, 0).value(), 64);
  EXPECT_EQ(workers_per_rank(10, 5, 0).value(), 3);
  EXPECT_EQ(workers_per_rank(10, 5, 8).value(), 8);
  EXPECT_EQ(workers_per_rank(10, 5, 2).error().message,
            "2 workers per rank are too few for 10 workers on 4 ranks; at least 3");
  EXPECT_FALSE(workers_per_rank(10, 1, 0));
  EXPECT_EQ(workers_per_rank(10, 5, 0, 2).value(), 5);
  EXPECT_EQ(workers_per_rank(10, 5, 0, 4).error().message,
            "servers=4 is not allowed for 5 ranks: rank 0 is the master, and at least one more "
            "hosts workers; 0 ... 3");
}

TEST(Peers, SeesWhetherAProcessIsThere) {
  EXPECT_TRUE(process_is_there(1));
  EXPECT_FALSE(process_is_there(1 << 30));
  EXPECT_EQ(machine_of_this_process(), machine_of_this_process());
}

}  // namespace
}  // namespace paceline
