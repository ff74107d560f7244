// Runs with parameter servers: the same weights, and what faults cost.
//
// Which answers count is the machine's choice, so a run is compared with what its own decisions
// make of the models in one bank: a coordinator that is watched gives orders and decodings, and a
// plain bank carries them out with messages computed at once. The weights are equal bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/cluster_support.hpp"
#include "paceline/gradient_code.hpp"
#include "runtime/run_parts.hpp"
#include "runtime/worker.hpp"

namespace paceline {
namespace {

using test::Cluster;
using test::kBatch;
using test::kLength;
using test::TrainingRun;

constexpr int kWorkers = 6;
constexpr int kJobs = 12;

/// Carries out what another coordinator decides in a bank of its own.
class Watched final : public Coordinator {
 public:
  Watched(Coordinator& inner, const TrainingRun& run)
      : inner_(inner),
        layout_(layout_of(run.options, sampler_)),
        bank_({.length = kLength, .shape = run.options.shape, .batch_size = kBatch},
              std::vector(static_cast<std::size_t>(run.rounds.models),
                          std::vector<float>(kLength, 1.5F)),
              optimizers(run.rounds.models)) {}

  Actions start(Seconds now) override { return watch(inner_.start(now)); }

  Actions on(const Event& event, Seconds now) override { return watch(inner_.on(event, now)); }

  bool study() override { return inner_.study(); }

  std::unique_ptr<Coordinator> clone() const override { return inner_.clone(); }

  std::vector<std::vector<float>> weights() const {
    std::vector<std::vector<float>> all;
    for (int m = 0; m < bank_.models(); ++m) all.push_back(*bank_.parameters(ModelId{m}));
    return all;
  }

 private:
  static std::vector<std::unique_ptr<Optimizer>> optimizers(int models) {
    std::vector<std::unique_ptr<Optimizer>> all;
    for (int m = 0; m < models; ++m) all.push_back(std::make_unique<test::PlainDescent>());
    return all;
  }

  Actions watch(Actions actions) {
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        for (const Task& task : send->order.tasks) make(task);
      } else if (const auto* apply = std::get_if<Apply>(&action)) {
        for (const Coefficient& term : apply->sum.terms) {
          const MadeMessage& made = made_.at(term.message);
          bank_.store(term.message, made.values, made.loss, made.samples);
        }
        EXPECT_TRUE(bank_.apply(*apply));
      }
    }
    return actions;
  }

  void make(const Task& task) {
    if (task.row.terms().empty()) return;
    ASSERT_EQ(bank_.version(task.model), task.reads);
    std::vector<int> batch(kBatch);
    sampler_.batch(task.model, task.reads, batch);
    test::QuadraticSource source;
    MadeMessage& made = made_[task.id];
    make_message(source,
                 task.row,
                 layout_.shape,
                 *bank_.parameters(task.model),
                 batch,
                 layout_.chunk_borders,
                 layout_.micro_batch,
                 {},
                 made);
    round_message(layout_.message_type, made.values);
  }

  Coordinator& inner_;
  test::CircularSampler sampler_;
  MessageLayout layout_;
  ModelBank bank_;
  std::map<MessageId, MadeMessage> made_;
};

struct Case {
  std::string scheme;
  MessageType type = MessageType::kFloat32;
  bool cancel = true;
};

TrainingRun make_run(const Case& how) {
  TrainingRun run(
      make_scheme(how.scheme,
                  {.workers = kWorkers, .jobs = kJobs, .seed = 5, .message_type = how.type})
          .value());
  run.options.message_type = how.type;
  run.rounds = {.jobs = kJobs,
                .models = std::max(2, run.scheme->info().open_jobs),
                .cancel_stragglers = how.cancel,
                .study_between_rounds = false};
  return run;
}

/// The run on the cluster, and the weights that its decisions make in one bank.
struct Played {
  Expected<LocalRunResult> result;
  std::vector<std::vector<float>> expected;
};

Played play_watched(TrainingRun& run, ClusterMaster& master) {
  run.driver = [&master](auto&... arguments) { return master.run(arguments...); };
  auto coordinator =
      make_round_coordinator(run.scheme->clone(), make_close_policy(run.policy).value(), run.rounds)
          .value();
  Watched watched(*coordinator, run);
  auto result = run.go(watched);
  return {std::move(result), watched.weights()};
}

class ServersOf : public testing::TestWithParam<Case> {};

TEST_P(ServersOf, TheWeightsAreThoseOfOneBankBitForBit) {
  // Every worker straggles now and then, and answers are a few milliseconds apart.
  const test::ScriptedDelays delays(kWorkers, [](int round, int worker) {
    return 1.0 + (worker * 5 + round * (round + 1)) % kWorkers;
  });
  for (int servers = 1; servers <= 3; ++servers) {
    TrainingRun run = make_run(GetParam());
    if (!check_servers_fit(kLength, run.options.shape, servers)) continue;
    run.options.delays = &delays;
    Cluster cluster(servers + 3, run, {"1.0"}, servers);
    ASSERT_TRUE(cluster.master().admit({"1.0"}));
    const Played played = play_watched(run, cluster.master());
    ASSERT_TRUE(played.result) << played.result.error().message;
    EXPECT_EQ(played.result->jobs, kJobs);
    EXPECT_EQ(run.weights, played.expected) << servers << " servers";
    const double rounding =
        GetParam().type == MessageType::kFloat32 ? 1e-4 : promised_error(GetParam().type);
    EXPECT_LT(test::distance(run.weights, run.expected_weights()), rounding);
    EXPECT_EQ(cluster.master().traffic().damaged, 0) << cluster.notices_text();
    EXPECT_TRUE(cluster.master().end(0));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes,
    ServersOf,
    testing::Values(Case{"uncoded"},
                    Case{"gc:s=2,code=repetition"},
                    Case{"gc:s=1,code=cyclic"},
                    Case{"gc:s=1,code=mds"},
                    Case{"gc:code=short-messages,s=1,m=2"},
                    Case{"partial:r=3"},
                    Case{"m-sgc:B=1,W=2,lambda=2"},
                    Case{"m-sgc:B=1,W=2,lambda=2", MessageType::kFloat32, false},
                    Case{"gc:s=1,code=mds", MessageType::kFloat16},
                    Case{"m-sgc:B=1,W=2,lambda=2", MessageType::kBfloat16},
                    Case{"relay:T=1,r0=2"}),
    [](const auto& one) {
      std::string name =
          one.param.scheme + (one.param.cancel ? "" : "late") + message_type_name(one.param.type);
      std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
      return name;
    });

TEST(Servers, MakeTheWeightsOfARunWithoutThem) {
  for (const MessageType type : {MessageType::kFloat32, MessageType::kFloat16}) {
    TrainingRun local(kWorkers, kWorkers);
    local.options.message_type = type;
    ASSERT_TRUE(local.go());
    for (int servers = 1; servers <= 3; ++servers) {
      TrainingRun run(kWorkers, kWorkers);
      run.options.message_type = type;
      run.options.verify = true;
      Cluster cluster(servers + 3, run, {"1.0"}, servers);
      ASSERT_TRUE(cluster.master().admit({"1.0"}));
      const auto result = test::play(run, cluster.master());
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(run.weights, local.weights);
      EXPECT_EQ(run.losses, local.losses);
      EXPECT_EQ(result->messages, 36);
      EXPECT_EQ(result->bytes_per_round, static_cast<double>(6 * kLength * bytes_of(type)));
      EXPECT_EQ(result->verified, 6);
      EXPECT_LT(result->worst_verify_error, type == MessageType::kFloat32 ? 1e-5 : 1e-2);
      EXPECT_TRUE(cluster.master().end(0));
    }
  }
}

TEST(Servers, PlaySeveralRunsAfterOneAnother) {
  TrainingRun first(6, 3), second(6, 6);
  Cluster cluster(4, first, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  for (TrainingRun* run : {&first, &second}) {
    const Played played = play_watched(*run, cluster.master());
    ASSERT_TRUE(played.result) << played.result.error().message;
    EXPECT_EQ(run->weights, played.expected);
  }
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, DamagedSlicesAreNoAnswers) {
  // Each rank holds a worker of every group. Rank 4 is the quick one; what it loses comes from
  // rank 3.
  const test::ScriptedDelays delays(6, [](int, int worker) { return worker < 3 ? 12.0 : 2.0; });
  TrainingRun run(6, 3);
  run.rounds.jobs = 20;
  run.options.delays = &delays;
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int from, int to, Bytes& frame) {
    if (from != 4 || to == 0) return 1;
    const int number = ++frames;
    if (number % 3 == 0) frame[frame.size() / 2] ^= std::byte{4};
    if (number % 3 == 1 && to == 2) frame.resize(frame.size() - 3);
    return 1;
  });
  const Played played = play_watched(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_GE(cluster.master().traffic().damaged, 1);
  EXPECT_NE(cluster.notices_text().find("a message of rank 4 to rank "), std::string::npos)
      << cluster.notices_text();
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, ParametersThatArriveDamagedAreSentAgain) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 30;
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int from, int to, Bytes& frame) {
    if (from == 2 && to == 4 && ++frames % 4 == 3) frame.back() ^= std::byte{1};
    return 1;
  });
  const Played played = play_watched(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_NE(cluster.notices_text().find("a message of rank 2 to rank 4"), std::string::npos);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, TwoAnswersForOneTaskCountOnce) {
  TrainingRun run(4, 4);
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  cluster.hub.set_fault([](int from, int to, Bytes&) { return from > 2 && to > 0 ? 2 : 1; });
  const Played played = play_watched(run, cluster.master());
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_EQ(played.result->messages, 24);
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_GE(cluster.master().traffic().late, 1);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, FaultsOnPurposeCostNoWeights) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 24;
  const std::vector<std::string> texts = {"nan:worker=0,at=2",
                                          "nan:worker=1,at=12",
                                          "corrupt:worker=2,at=3",
                                          "corrupt:worker=3,at=14",
                                          "drop:worker=4,at=4",
                                          "drop:worker=5,at=11",
                                          "duplicate:worker=0,at=5",
                                          "duplicate:worker=1,at=15",
                                          "slow:worker=2,at=6,for=2",
                                          "stop:worker=3,at=6,for=3",
                                          "kill:worker=4,at=8,for=3",
                                          "nan:worker=3,at=14"};
  run.options.faults = parse_faults(texts, 6, run.rounds.jobs).value();
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const Played played = play_watched(run, cluster.master());
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_GE(played.result->injected, 6) << "the rest meets workers that answer nothing more";
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, AnAnswerWithNaNIsAskedForAgain) {
  TrainingRun run(4, 4);
  std::atomic<int> calls{0};
  run.hook = [&](std::span<const int>, std::span<float> out) {
    if (++calls == 20) out[4] = std::numeric_limits<float>::quiet_NaN();
  };
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const Played played = play_watched(run, cluster.master());
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_EQ(played.result->discarded, 1);
  EXPECT_EQ(played.result->asked_again, 1);
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, AFrozenRankOfWorkersIsAStraggler) {
  TrainingRun run(9, 3);
  run.rounds.jobs = 30;
  Cluster cluster(6, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  run.options.observer = [&](const RoundReport& report) {
    if (report.record->round.value == 4) cluster.hub.freeze(4);
    if (report.record->round.value == 20) cluster.hub.thaw(4);
  };
  const Played played = play_watched(run, cluster.master());
  ASSERT_TRUE(played.result) << played.result.error().message;
  EXPECT_EQ(run.weights, played.expected);
  EXPECT_LT(played.result->total, Seconds(2));
  EXPECT_TRUE(cluster.master().end(0));
}

TEST(Servers, WithoutAServerTheRunEndsAndNamesIt) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 200;
  int checkpoints = 0;
  run.options.checkpoints.take = [&](const RunState&) { ++checkpoints; };
  Cluster cluster(5, run, {"1.0"}, 2);
  ClusterMaster& master = cluster.master(Seconds(0.6));
  ASSERT_TRUE(master.admit({"1.0"}));
  run.options.observer = [&](const RoundReport& report) {
    if (report.record->round.value == 5) cluster.hub.freeze(2);
  };
  const Played played = play_watched(run, master);
  ASSERT_FALSE(played.result);
  EXPECT_EQ(played.result.error().code, ErrorCode::kFailed);
  const std::string& why = played.result.error().message;
  EXPECT_NE(why.find("rank 2 ("), std::string::npos) << why;
  EXPECT_NE(why.find(", parameter server) is silent, and its part of the parameters is lost"),
            std::string::npos)
      << why;
  EXPECT_EQ(checkpoints, 0) << "there is no whole state";
  cluster.hub.thaw(2);
  EXPECT_TRUE(master.end(1));
}

TEST(Servers, AMessageOfTheMasterThatAServerMissesEndsTheRun) {
  TrainingRun run(6, 3);
  run.rounds.jobs = 200;
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  std::atomic<int> frames{0};
  cluster.hub.set_fault([&](int from, int to, Bytes& frame) {
    if (from == 0 && to == 1 && ++frames == 12) frame.back() ^= std::byte{1};
    return 1;
  });
  const Played played = play_watched(run, cluster.master());
  cluster.hub.set_fault({});
  ASSERT_FALSE(played.result);
  EXPECT_NE(played.result.error().message.find("damaged message"), std::string::npos)
      << played.result.error().message;
  EXPECT_TRUE(cluster.master().end(1));
}

TEST(Servers, AGradientThatOverflowsEndsTheRunAsWithoutServers) {
  TrainingRun run(4, 4);
  run.hook = [](std::span<const int>, std::span<float> out) { out[3] = 3e38F; };
  Cluster cluster(5, run, {"1.0"}, 2);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  const auto result = test::play(run, cluster.master());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("overflows float32"), std::string::npos)
      << result.error().message;
  EXPECT_TRUE(cluster.master().end(1));
}

TEST(Servers, AreRefusedWhereTheyCannotBe) {
  TrainingRun run(4, 4);
  const auto refusal = [&](int ranks, int servers) {
    Cluster cluster(ranks, run, {"1.0"}, servers);
    EXPECT_TRUE(cluster.master().admit({"1.0"}));
    TrainingRun again(4, 4);
    const auto result = test::play(again, cluster.master());
    EXPECT_TRUE(cluster.master().end(2));
    return result ? "played" : result.error().message;
  };
  EXPECT_EQ(refusal(3, 2),
            "servers=2 is not allowed for 3 ranks: rank 0 is the master, and at least one more "
            "hosts workers; 0 ... 1");
  EXPECT_EQ(refusal(8, 6), "servers=6 is not allowed for 5 parameters; 1 ... 5");
}

/// Steps as far as the gradient is long.
class NormalisedDescent final : public Optimizer {
 public:
  void step(std::span<float> /*parameters*/, std::span<const float> /*gradient*/) override {}

  std::unique_ptr<Optimizer> clone() const override {
    return std::make_unique<NormalisedDescent>();
  }
};

TEST(Servers, RefuseAnOptimizerThatLooksAtTheWholeGradient) {
  TrainingRun run(4, 4);
  Cluster cluster(4, run, {"1.0"}, 1);
  ASSERT_TRUE(cluster.master().admit({"1.0"}));
  run.driver = [&](Coordinator& coordinator, ModelBank& bank, auto&... rest) {
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    optimizers.push_back(std::make_unique<test::PlainDescent>());
    optimizers.push_back(std::make_unique<NormalisedDescent>());
    ModelBank other(
        bank.options(), std::vector(2, std::vector<float>(kLength)), std::move(optimizers));
    return cluster.master().run(coordinator, other, rest...);
  };
  const auto result = run.go();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(result.error().message,
            "servers=1 is not allowed: model 1's optimizer looks at all of the gradient, and a "
            "server has a slice of it; servers=0, or an optimizer that is coordinatewise");
  EXPECT_TRUE(cluster.master().end(2));
}

TEST(Servers, ARunGoesOnWithTheSameWeightsAlsoWithOtherServers) {
  for (const char* scheme : {"m-sgc:B=2,W=4,lambda=3", "gc:s=2,code=repetition"}) {
    std::vector<RunState> states;
    {
      TrainingRun whole = make_run({scheme});
      whole.options.checkpoints.due = [](int) { return true; };
      whole.options.checkpoints.take = [&](RunState state) { states.push_back(std::move(state)); };
      Cluster cluster(5, whole, {"1.0"}, 2);
      ASSERT_TRUE(cluster.master().admit({"1.0"}));
      const Played played = play_watched(whole, cluster.master());
      ASSERT_TRUE(played.result) << played.result.error().message;
      EXPECT_EQ(whole.weights, played.expected);
      EXPECT_TRUE(cluster.master().end(0));
    }
    ASSERT_GE(states.size(), 4U);
    for (std::size_t k = 1; k + 1 < states.size(); k += 3) {
      for (const int servers : {0, 1, 3}) {
        TrainingRun rest = make_run({scheme});
        rest.options.checkpoints.resume = &states[k];
        Cluster cluster(servers + 3, rest, {"1.0"}, servers);
        ASSERT_TRUE(cluster.master().admit({"1.0"}));
        const Played played = play_watched(rest, cluster.master());
        ASSERT_TRUE(played.result) << played.result.error().message;
        EXPECT_EQ(played.result->jobs, kJobs);
        EXPECT_EQ(rest.weights, played.expected) << "with " << servers << " servers";
        EXPECT_TRUE(cluster.master().end(0));
      }
    }
  }
}

}  // namespace
}  // namespace paceline
