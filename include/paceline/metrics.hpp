// Files of a run that must not be half written without anyone noticing: metrics.jsonl, a line per
// round while the run goes on, and whole files that appear at once or not at all.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/ids.hpp"

namespace paceline {
namespace detail {
class OutputFile;
}

/// The loss of a job that was decoded in a round.
struct JobLoss {
  JobId job;
  ModelId model;
  double loss = 0;
  double residual = 0;   ///< of its decoding; written where it is more than rounding
  bool skipped = false;  ///< it left too much for a step; written where it did
};

/// Writes metrics.jsonl. Each line goes to the system at once, so that a reader can follow the run
/// and a full disk is noticed in the round that meets it.
class MetricsWriter {
 public:
  /// Creates or empties the file at `path`. Its directory must exist.
  static Expected<MetricsWriter> create(const std::string& path);

  MetricsWriter(MetricsWriter&&) noexcept;
  MetricsWriter& operator=(MetricsWriter&&) noexcept;
  ~MetricsWriter();  ///< closes unchecked: call close() to learn whether all of it was kept

  /// Adds the line of one round:
  ///   {"scheme":"gc:s=1","round":7,"opened":3.1,"closed":3.6,"busy":16,"stragglers":[2,9],
  ///    "decoded":[7],"losses":[{"job":7,"model":3,"loss":0.61}],"waited_out":false}
  /// and beside the loss of a job that was decoded approximately "residual", and "skipped":true if
  /// the optimizer made no step with it.
  /// @return an error of code kFailed that names the path and the system's reason
  /// @pre    not closed
  Expected<void> write(std::string_view scheme,
                       const RoundRecord& record,
                       std::span<const JobLoss> losses);

  /// Adds a line of something that happened to a worker, on purpose or not:
  ///   {"event":"fault","round":7,"worker":3,"what":"is stopped until round 37"}
  Expected<void> note(Round round, WorkerId worker, std::string_view what);

  /// Forces the lines to the disk and closes the file. @pre not closed
  Expected<void> close();

 private:
  explicit MetricsWriter(std::unique_ptr<detail::OutputFile> file);
  std::unique_ptr<detail::OutputFile> file_;
};

/// The same as two tables for spreadsheets and data frames: metrics.csv with a row per round,
/// losses.csv with a row per decoded job (columns and units: docs/reports.md). Lines go to the
/// system at once, as above.
class MetricsTable {
 public:
  /// Creates or empties both in `folder`, which must exist. @param models  M
  static Expected<MetricsTable> create(const std::string& folder, int models);

  MetricsTable(MetricsTable&&) noexcept;
  MetricsTable& operator=(MetricsTable&&) noexcept;
  ~MetricsTable();  ///< closes unchecked

  /// Adds a round. @pre not closed
  Expected<void> write(std::string_view scheme,
                       const RoundRecord& record,
                       std::span<const JobLoss> losses);

  /// Forces the lines to the disk and closes the files. @pre not closed
  Expected<void> close();

 private:
  MetricsTable(std::unique_ptr<detail::OutputFile> rounds,
               std::unique_ptr<detail::OutputFile> losses,
               int models);

  std::unique_ptr<detail::OutputFile> rounds_;
  std::unique_ptr<detail::OutputFile> losses_;
  int models_;
};

/// Writes a whole file: under a temporary name in the same directory, forced to the disk, then
/// renamed. When it fails, `path` is what it was before and no temporary file is left.
/// @return an error that names the path: kInvalid if it cannot be created there (no such directory,
///         no permission), kFailed if the disk is at fault
Expected<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace paceline
