// What parameter servers are for: where a rank's link is the limit, the master's is not any more.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "cluster/memory_link.hpp"
#include "paceline/cluster.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

constexpr std::size_t kNumbers = 20'000;
constexpr int kWorkers = 16;
constexpr int kRounds = 3;
// Slow enough that the links are the limit under sanitizers, too, where computing takes far longer.
constexpr double kBytesPerSecond = 5e6;

/// Sample i has the gradient w - i, all numbers alike.
class LongSource final : public GradientSource {
 public:
  std::size_t length() const override { return kNumbers; }

  int samples() const override { return test::kSamples; }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto x = static_cast<float>(samples[i]);
      for (std::size_t j = 0; j < kNumbers; ++j) out[j] += weights[i] * (parameters[j] - x);
    }
    return 0;
  }

  std::unique_ptr<GradientSource> clone() const override { return std::make_unique<LongSource>(); }
};

struct Measured {
  Seconds total{0};
  double received = 0;  ///< bytes by the master, per round
  std::vector<float> weights;
};

/// Uncoded rounds of one model over links that take in 5 MB per second each.
Measured measure(int servers) {
  constexpr int kHosts = 2;
  test::MemoryHub hub(1 + servers + kHosts);
  std::vector<std::unique_ptr<GradientSource>> sources;
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  sources.push_back(std::make_unique<LongSource>());
  optimizers.push_back(std::make_unique<test::PlainDescent>());
  const test::CircularSampler sampler;
  std::atomic<bool> interrupted{false};
  std::vector<std::future<Expected<int>>> served;
  for (int rank = 1; rank < hub.ranks(); ++rank) {
    served.push_back(std::async(std::launch::async, [&, rank] {
      test::MemoryLink link(hub, rank);
      ServeOptions options;
      options.sources = &sources;
      options.sampler = &sampler;
      options.optimizers = &optimizers;
      options.interrupted = &interrupted;
      return serve(link, {"1.0"}, options);
    }));
  }
  test::MemoryLink link(hub, 0);
  ClusterMaster master(link, {.servers = servers});
  EXPECT_TRUE(master.admit({"1.0"}));
  const test::GroupScheme scheme(kWorkers, kWorkers);
  const RoundOptions rounds{.jobs = kRounds, .models = 1};
  auto coordinator =
      make_round_coordinator(scheme.clone(), make_close_policy("eager").value(), rounds).value();
  std::vector<std::unique_ptr<Optimizer>> own;
  own.push_back(optimizers[0]->clone());
  ModelBank bank({.length = kNumbers, .batch_size = test::kBatch},
                 {std::vector<float>(kNumbers, 1.0F)},
                 std::move(own));
  LocalRunOptions options;
  options.workers = kWorkers;
  options.chunk_size = scheme.info().chunk_size;
  hub.limit_links(kBytesPerSecond);
  const auto result = master.run(*coordinator, bank, sources, sampler, options);
  hub.limit_links(0);
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_TRUE(master.end(0));
  return {result->total, master.traffic().bytes_received_per_round, *bank.parameters(ModelId{0})};
}

TEST(ServersLink, TheMastersLinkIsNotTheLimitAnyMore) {
  // A round's messages are 1.28 MB: 256 ms on one link, 64 ms on four.
  std::vector<Measured> measured;
  for (const int servers : {0, 1, 2, 4}) {
    measured.push_back(measure(servers));
    RecordProperty("ms_per_round_" + std::to_string(servers),
                   std::to_string(measured.back().total.count() * 1000 / kRounds));
    EXPECT_EQ(measured.back().weights, measured[0].weights);
  }
  const Measured& alone = measured[0];
  EXPECT_GT(alone.total, Seconds(kRounds * 0.253));
  EXPECT_LT(measured[3].total, 0.7 * alone.total);
  EXPECT_GT(alone.received, kWorkers * kNumbers * sizeof(float));
  // What servers hold comes to the master once, at the end.
  EXPECT_LT(measured[3].received, 0.05 * alone.received);
}

}  // namespace
}  // namespace paceline
