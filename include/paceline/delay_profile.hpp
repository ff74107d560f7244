// Recorded response times: a table, the files it is read from, and several tables of one cluster
// that were measured at several loads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

/// A table of response times measured at one load.
struct DelayProfile {
  int rounds = 0;
  int workers = 0;
  double load = 0;  ///< the load at which it was measured (header "load=...", else 0)
  std::vector<double> seconds = {};        ///< shape (rounds, workers), row-major, each > 0
  std::vector<std::string> warnings = {};  ///< what is doubtful about the file, a line each

  double at(int round, int worker) const {
    return seconds[static_cast<std::size_t>(round) * static_cast<std::size_t>(workers) +
                   static_cast<std::size_t>(worker)];
  }
};

struct ImportOptions {
  /// Where a file in long form or a trace has what, "key=name,key=name" (docs/delays.md); empty:
  /// the usual names.
  std::string columns = {};
  std::optional<double> unit = {};  ///< seconds per unit of the file; default 1, of traces 1e-6
  std::optional<double> load = {};  ///< 0 ... 1, instead of what the file says
};

/// Reads wide CSV, long CSV or a Chrome trace (JSON), plain or compressed with gzip, whichever the
/// bytes are. `name` is used in errors, which give row (line of the file) and column.
Expected<DelayProfile> parse_delay_profile(std::string_view bytes,
                                           const std::string& name,
                                           const ImportOptions& options = {});

/// The same of a file. A file "...load<number>.csv" is moreover compared with those of its run
/// beside it, and refused where its calls have failed.
Expected<DelayProfile> read_delay_profile(const std::string& path,
                                          const ImportOptions& options = {});

/// A profile as wide CSV: comments, a header with workers, rounds and load, one line per round. Times
/// have nine digits.
/// @param comment  one line for people; empty: none
std::string to_wide_csv(const DelayProfile& profile, std::string_view comment);

/// The first `workers` columns of a profile that has at least as many.
DelayProfile first_workers(const DelayProfile& profile, int workers);

/// Response time = intercept + slope * load.
struct LoadLine {
  double slope = 0;      ///< seconds per unit of load
  double intercept = 0;  ///< seconds
};

/// Least squares over all single response times. An error if all have one load, or if times fall
/// as the load grows.
Expected<LoadLine> fit_load_line(std::span<const DelayProfile> profiles);

/// What was measured at a load becomes what zero load would have given: entry - slope * load, 0
/// where only rounding makes it negative. An error, which names the entry, where a time would be
/// negative.
/// @pre slope >= 0
Expected<DelayProfile> at_zero_load(DelayProfile profile, double slope);

/// What several files say about one cluster.
struct MeasuredCluster {
  DelayProfile base;                ///< the profile of the lowest load, with everybody's warnings
  std::optional<LoadLine> line;     ///< if there are several loads
  std::vector<DelayProfile> files;  ///< those that are valid, by load
};

/// Reads files measured on the same workers, one per load. Of several, one whose calls have failed
/// is left out with a warning. Where the fastest answer at the lowest load is faster than the line
/// through all loads allows, the line is made less steep, with a warning.
Expected<MeasuredCluster> read_measured_cluster(std::span<const std::string> paths,
                                                const ImportOptions& options = {});

/// Block bootstrap to at least `rounds` rounds:  mt19937_64 g(seed); append blocks of B = min(10,
/// R/2) rounds that start at g() mod (R - B + 1), until there are enough. (relay spec, section 10)
DelayProfile bootstrap(const DelayProfile& profile, int rounds, std::uint64_t seed);

inline constexpr int kBootstrapBlock = 10;

/// The rounds that bootstrap() takes of a profile of `recorded` rounds, with blocks of B =
/// min(block, R/2) rounds, at least one. More rounds continue the same sequence.
std::vector<int> bootstrap_rounds(int recorded,
                                  int rounds,
                                  std::uint64_t seed,
                                  int block = kBootstrapBlock);

}  // namespace paceline
