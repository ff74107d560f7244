// Where workers live: threads of this process, or other ranks that a launcher started.
//
// Every rank runs the same command line. Rank 0 does what the program does alone, only that its
// workers are elsewhere; the others build models, data and delays and serve. How it was started
// decides which, unless --transport says it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paceline/cluster.hpp"
#include "paceline/expected.hpp"
#include "paceline/launch.hpp"
#include "paceline/link.hpp"
#include "paceline/run_report.hpp"
#include "train_setup.hpp"

namespace paceline::app {

/// How this process was started, by its environment.
Expected<Launch> launch_of_this_process();

class Ranks {
 public:
  /// Decides, and connects the ranks if there are several.
  /// @param stop  ends the waits for others
  /// @return an error; without a message where rank 0 finds the same one and says it
  static Expected<std::unique_ptr<Ranks>> find(const TrainOptions& options,
                                               const std::atomic<bool>& stop);

  /// Whether this process is one of those that host workers: then serve() is all it does.
  bool serves() const { return link_ != nullptr && link_->rank() > 0; }

  /// Whether this process has nothing to do: rank 0 does everything itself.
  bool idle() const { return idle_; }

  /// Whether a launcher has started this process with others.
  bool launched() const { return link_ != nullptr; }

  /// What setting up must know.
  SetupFor setup_for() const;

  /// Hosts workers until the master ends it.
  /// @param setup     or why this rank has none
  /// @return an error with the exit code of the whole run and, if this rank failed by itself, a
  /// message
  Expected<void> serve(const Expected<Setup>& setup, const std::vector<Setting>& settings);

  /// Waits until all ranks have the same options and data. Nothing to do in one process.
  Expected<void> admit(const Setup& setup, const std::vector<Setting>& settings);

  /// run_local(), or the same with the workers on the other ranks.
  Expected<LocalRunResult> run(Coordinator& coordinator,
                               ModelBank& bank,
                               const std::vector<std::unique_ptr<GradientSource>>& sources,
                               const BatchSampler& sampler,
                               const LocalRunOptions& options);

  /// What the last run sent and received, in one line; empty in one process.
  std::string traffic() const;

  /// Who prints lines about ranks; empty: they go to standard error.
  void set_voice(std::function<void(const std::string& line)> voice) { voice_ = std::move(voice); }

  /// Ends all ranks with the exit code of `done`, says its message and returns it without. Where a
  /// rank does not answer it says so, ends what can be ended, and does not return.
  Expected<void> end(Expected<void> done);

 private:
  Ranks(const TrainOptions& options, const std::atomic<bool>& stop);

  Expected<void> check_servers() const;
  Expected<void> check_shares(const Setup& setup) const;
  Expected<void> join_others();

  void say(const std::string& line) const;

  TrainOptions options_;
  const std::atomic<bool>& stop_;
  Launch launch_;
  bool idle_ = false;
  std::unique_ptr<Link> link_;  ///< nullptr: one process
  std::unique_ptr<ClusterMaster> master_;
  std::function<void(const std::string& line)> voice_;
};

}  // namespace paceline::app
