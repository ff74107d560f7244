// What a live page shows of a run, in bounded memory.
//
// The rounds of a scheme are columns. A column is one round until there are kMostColumns of them;
// then each takes in its neighbour, and a column is two rounds, then four, and so on: a screen has
// no more room. The newest kNewest rounds are kept one by one beside that. Whoever adds holds a
// lock for the work of one round; whoever reads copies what is new to the reader under the same
// lock and makes texts of the copy.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/ids.hpp"
#include "paceline/metrics.hpp"

namespace paceline {

/// What stays the same in a run.
struct LiveRun {
  std::string id;         ///< no other run has it: a reader that meets another one starts anew
  std::string title;      ///< "4 x softmax on synthetic classes, 16 workers"
  std::string command;    ///< as typed
  std::string directory;  ///< with what the run leaves behind
  int workers = 0;        ///< n
  std::vector<std::string> models;  ///< shape (M), their names
};

/// What stays the same while a scheme is played.
struct LiveScheme {
  int number = 0;  ///< from 1; 0: none has begun
  int schemes = 0;
  std::string label;
  int jobs = 0;  ///< to be decoded
  std::optional<Seconds> predicted;
  std::optional<Seconds> limit;  ///< clairvoyant, for all jobs
};

/// What is known of a round beside its record.
struct RoundBounds {
  /// When the slowest of the round's workers would have answered, since the round opened.
  std::optional<Seconds> slowest;
  /// Clairvoyant limit for all jobs of the scheme that are decoded so far.
  std::optional<Seconds> limit;
};

/// A mean that grows.
struct Mean {
  float value = 0;
  int count = 0;

  void add(double sample) { add(Mean{static_cast<float>(sample), 1}); }

  void add(const Mean& other) {
    if (other.count == 0) return;
    count += other.count;
    value += (other.value - value) * static_cast<float>(other.count) / static_cast<float>(count);
  }
};

/// One or several rounds in a row.
struct LiveColumn {
  int round = 0;   ///< number of the first one
  int rounds = 0;  ///< how many
  Mean seconds;    ///< how long they took
  int stragglers = 0;
  Seconds closed{0};  ///< of the last one, since the scheme's first round opened; so the next three
  int jobs = 0;       ///< decoded
  std::optional<Seconds> slowest;  ///< sum of RoundBounds::slowest, if all are known
  std::optional<Seconds> limit;
  std::vector<Mean> loss;      ///< shape (M), of the jobs decoded in these rounds
  std::vector<Mean> response;  ///< shape (n), seconds, of the rounds in which the worker was done
  std::vector<int> straggled;  ///< shape (n), rounds
};

/// How fast a worker is. Its present time is the median of its responses in its newest
/// WorkerScores::kWindow rounds with work; a round that closed without it counts with the time
/// until then, the least that it can have taken.
struct WorkerScore {
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< present time; NaN: no work yet
  /// The present time of the worker for which it is shortest, over this worker's: 0 ... 1.
  double relative = std::numeric_limits<double>::quiet_NaN();
  /// The shortest present time that this worker had, over its present one: 0 ... 1; NaN before it
  /// has had work in as many rounds.
  double individual = std::numeric_limits<double>::quiet_NaN();
  int worked = 0;     ///< rounds in which it had work
  int straggled = 0;  ///< those that closed without it
};

/// A scheme that has been played.
struct EndedScheme {
  std::string label;
  bool whole = false;  ///< all of its jobs were decoded
  int jobs = 0;
  int rounds = 0;
  Seconds elapsed{0};
  std::optional<Seconds> slowest;  ///< as in LiveColumn
  std::optional<Seconds> limit;
};

/// Counts over all schemes of the run.
struct LiveTotals {
  /// Upper ends of the classes by which round_counts counts rounds, seconds; one more is above.
  static constexpr std::array<double, 16> kRoundSeconds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};

  long long jobs = 0;
  long long rounds = 0;
  long long wait_outs = 0;
  double round_seconds = 0;                                        ///< sum
  std::array<long long, kRoundSeconds.size() + 1> round_counts{};  ///< each class by itself
  std::vector<long long> straggled;                                ///< shape (n), rounds
};

/// What a reader has already.
struct Seen {
  std::string run;  ///< its id
  int scheme = 0;
  int rounds = 0;  ///< of the scheme
  int stride = 0;  ///< rounds in a column
};

/// A copy for a reader.
struct LiveView {
  LiveRun run;
  LiveScheme scheme;
  std::string playing;  ///< label of the newest round: with `auto` not that of the scheme
  bool ended = false;   ///< the scheme has
  int rounds = 0;
  int jobs = 0;  ///< decoded
  int stragglers = 0;
  int wait_outs = 0;
  LiveColumn newest_round;   ///< all zero before the first
  std::vector<double> loss;  ///< shape (M), newest; NaN before the first
  std::vector<WorkerScore> workers;
  std::vector<EndedScheme> before;
  LiveTotals totals;

  bool anew = true;  ///< the reader's columns and rounds are void
  int stride = 1;
  int first_column = 0;             ///< of `columns`; the reader's from there on are void
  std::vector<LiveColumn> columns;  ///< the last one may be short of rounds
  std::vector<LiveColumn> newest;   ///< one round each

  /// Time the rest of the scheme's jobs will take at the pace so far; empty before the first job.
  std::optional<Seconds> left() const;
};

class LiveState {
 public:
  static constexpr int kMostColumns = 1024;
  static constexpr int kMostCells = 1 << 19;  ///< workers times columns
  static constexpr int kNewest = 128;

  LiveState();
  ~LiveState();
  LiveState(const LiveState&) = delete;
  LiveState& operator=(const LiveState&) = delete;

  /// Comes first.
  void describe(LiveRun run);

  /// A scheme begins.
  void begin(LiveScheme scheme);

  /// A round has closed. What workers did under another label says nothing about how fast they
  /// are now: their loads may be others.
  /// @param label  of the scheme that played it
  void add(const RoundRecord& record,
           std::span<const JobLoss> losses,
           std::string_view label,
           const RoundBounds& bounds);

  /// The scheme has ended.
  void end();

  /// With the rounds that the reader does not have.
  LiveView view(const Seen& seen) const;

  /// Without rounds.
  LiveView numbers() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace paceline
