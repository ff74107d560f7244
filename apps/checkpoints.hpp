// Checkpoints of `paceline train`: which one a run goes on from, and the thread that writes them.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/checkpoint.hpp"
#include "paceline/expected.hpp"
#include "paceline/run_report.hpp"
#include "train_options.hpp"

namespace paceline::app {

struct Setup;

using Voice = std::function<void(const std::string& line)>;

/// What --resume finds; nothing without it, or where a folder for checkpoints has none yet.
Expected<std::optional<FoundCheckpoint>> find_checkpoint(const TrainOptions& options,
                                                         const Voice& say);

/// What a run that goes on must agree with.
std::map<std::string, std::string> model_facts(const TrainOptions& options, const Setup& setup);

/// How a scheme is played; with another one its unfinished jobs begin anew.
std::map<std::string, std::string> play_facts(const TrainOptions& options,
                                              int workers,
                                              const std::string& scheme);

/// "seed is 1 there and 2 here" of the first difference; empty: none.
std::string difference(const std::map<std::string, std::string>& there,
                       const std::map<std::string, std::string>& here);

/// Writes checkpoints in a thread of its own, so that rounds go on meanwhile. A checkpoint that
/// cannot be written is reported and costs the run nothing.
class CheckpointWriter {
 public:
  /// @param settings  all options, for people
  /// @return an error if the folder cannot be used, or holds another run's checkpoints although
  /// this run does not resume
  static Expected<std::unique_ptr<CheckpointWriter>> open(const TrainOptions& options,
                                                          const std::vector<Setting>& settings,
                                                          Voice say);

  ~CheckpointWriter() { wait(); }

  /// What a scheme's run shall do about checkpoints. @param jobs  decoded before it begins
  RunCheckpoints of_scheme(Checkpoint facts, int jobs);

  /// Until the last one is on the disk.
  void wait();

  /// The newest one that this run has written; empty: none.
  const std::string& newest() const { return newest_; }

  void set_voice(Voice say) { say_ = std::move(say); }

 private:
  CheckpointWriter(CheckpointFolder folder, int every, Voice say)
      : folder_(std::move(folder)), every_(every), say_(std::move(say)) {}

  bool due(int jobs);
  void take(RunState state);

  CheckpointFolder folder_;
  int every_;
  Voice say_;
  std::map<std::string, std::string> settings_;
  Checkpoint facts_;  ///< of the scheme that is played
  int last_ = 0;      ///< jobs that were decoded when the last one was taken
  std::string newest_;
  std::future<Expected<std::string>> writing_;  ///< valid while one is written
};

}  // namespace paceline::app
