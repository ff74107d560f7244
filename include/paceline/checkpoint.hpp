// Checkpoints of a run on disk: a folder of folders, one per checkpoint, of which the newest few
// are kept. docs/checkpoints.md says what lies in one.
//
// One that is there by name is either whole or found out: its files are written and forced to the
// disk under a temporary name, the folder is renamed, and last comes a marker with the size and the
// checksum of each file. What is read is checked against it, and nothing that is read is executed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "paceline/expected.hpp"
#include "paceline/run_state.hpp"

namespace paceline {

struct Checkpoint {
  /// What the models are: a run that goes on must agree with all of it.
  std::map<std::string, std::string> models;
  /// How they are trained (scheme, workers, jobs ...): a run that goes on may differ, and then
  /// begins with the first job that is not decoded.
  std::map<std::string, std::string> play;
  int scheme_number = 1;                        ///< which of the run's schemes, from 1
  std::map<std::string, std::string> settings;  ///< all options, for people
  RunState state;
};

/// Where checkpoints are written.
class CheckpointFolder {
 public:
  /// Makes the folder if need be, and takes away what a writer left unfinished.
  /// @param keep  >= 1
  /// @return an error of code kInvalid if the folder cannot be made or read
  static Expected<CheckpointFolder> open(const std::string& path, int keep);

  /// Whether there was no checkpoint, whole or not, and none has been written.
  bool empty() const { return newest_ == 0; }

  /// Writes one and takes away all but the `keep` newest. When it fails the older ones are as they
  /// were. @return its path
  Expected<std::string> write(const Checkpoint& checkpoint);

 private:
  CheckpointFolder(std::string path, int keep) : path_(std::move(path)), keep_(keep) {}

  std::string path_;
  int keep_;
  int newest_ = 0;  ///< number of the newest one; 0: none
};

struct FoundCheckpoint {
  std::string path;
  Checkpoint checkpoint;
};

/// The newest checkpoint that is whole; nothing if there is none.
/// @param notice  called with a line for each newer one that is damaged
/// @return an error of code kInvalid if there is no such folder
Expected<std::optional<FoundCheckpoint>> read_newest_checkpoint(
    const std::string& folder, const std::function<void(const std::string& line)>& notice);

}  // namespace paceline
