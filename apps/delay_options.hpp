// The options that say how long workers take, shared by the subcommands: recorded delay profiles or
// a delay model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/delay_profile.hpp"
#include "paceline/delays.hpp"
#include "paceline/expected.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

/// How files are read, as typed.
struct ImportTexts {
  std::string columns;
  std::string unit;  ///< s, ms, us, ns or a number of seconds; empty: the format's own
  std::optional<double> load;
};

struct DelayOptions {
  std::vector<std::string> profile;  ///< paths of delay profiles, one per load; empty: none
  ImportTexts import;
  std::string model;            ///< text of a delay model; empty: none
  std::optional<double> slope;  ///< default: that of the profiles, 0 if they have one load
  bool proportional = false;
  double scale = 1;
  std::optional<std::uint64_t> bootstrap;
};

void add_import_options(CLI::App& command, ImportTexts& texts);
/// Reads the files; what is doubtful about them goes to standard error.
Expected<MeasuredCluster> read_cluster(const std::vector<std::string>& paths,
                                       const ImportTexts& texts);
/// All but --bootstrap.
void add_delay_options(CLI::App& command, DelayOptions& options);

/// --bootstrap SEED: one resample of the profile. @pre add_delay_options has been called
void add_bootstrap_option(CLI::App& command, DelayOptions& options);

/// A recorded profile, and how it is to be replayed.
struct RecordedDelays {
  DelayProfile profile;
  ReplayOptions replay;
  std::string text;  ///< for titles: file name
};

/// @param workers  n, or 0: as many as the profile has columns
/// @pre   --profile is given. --bootstrap is left to the caller
Expected<RecordedDelays> read_recorded(const DelayOptions& options, int workers);

struct Delays {
  std::unique_ptr<DelaySource> source;  ///< nullptr: no delays asked for
  int workers = 0;                      ///< n
  int profile_rounds = 0;               ///< 0: not a profile
  std::string text;                     ///< for tables: file name or model
};

/// @param workers  n, or 0: as many as the profile has columns (an error for a model)
/// @param rounds   about how many rounds a run needs, for the bootstrap
Expected<Delays> make_delays(const DelayOptions& options,
                             int workers,
                             int rounds,
                             std::uint64_t seed);

}  // namespace paceline::app
