// A cluster of threads, for tests of whole runs.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/memory_link.hpp"
#include "paceline/cluster.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline::test {

/// Rank 0 is the test's thread, the others run until the master ends them.
class Cluster {
 public:
  /// @param servers  ranks 1 ... servers hold parameters
  explicit Cluster(int ranks, const TrainingRun& run, Member joins = {"1.0"}, int servers = 0)
      : hub(ranks), servers_(servers), master_link_(hub, 0) {
    for (int m = 0; m < run.rounds.models; ++m) {
      sources_.push_back(std::make_unique<QuadraticSource>(run.hook));
      optimizers_.push_back(std::make_unique<PlainDescent>());
    }
    for (int rank = 1; rank < ranks; ++rank) {
      served_.push_back(std::async(std::launch::async, [this, rank, joins, run = &run] {
        MemoryLink link(hub, rank);
        ServeOptions options;
        options.sources = &sources_;
        options.sampler = &sampler_;
        options.optimizers = &optimizers_;
        options.delays = run->options.delays;
        options.interrupted = &interrupted;
        return serve(link, joins, options);
      }));
    }
  }

  ~Cluster() { interrupted = true; }

  ClusterMaster& master(Seconds rank_limit = Seconds{0}) {
    if (!master_) {
      ClusterOptions options;
      options.rank_limit = rank_limit;
      options.servers = servers_;
      options.notice = [this](const std::string& line) { notices.push_back(line); };
      master_.emplace(master_link_, options);
    }
    return *master_;
  }

  std::string notices_text() const {
    std::string all;
    for (const std::string& line : notices) all += line + "\n";
    return all;
  }

  std::vector<std::future<Expected<int>>>& served() { return served_; }

  MemoryHub hub;
  std::vector<std::string> notices;
  std::atomic<bool> interrupted{false};

 private:
  int servers_;
  MemoryLink master_link_;
  CircularSampler sampler_;
  std::vector<std::unique_ptr<GradientSource>> sources_;
  std::vector<std::unique_ptr<Optimizer>> optimizers_;
  std::optional<ClusterMaster> master_;
  std::vector<std::future<Expected<int>>> served_;  // destroyed, and so waited for, first
};

/// Lets TrainingRun play on the cluster.
inline Expected<LocalRunResult> play(TrainingRun& run, ClusterMaster& master) {
  run.driver = [&master](auto&... arguments) { return master.run(arguments...); };
  return run.go();
}

}  // namespace paceline::test
