// A subcommand registers its options and says what to run; main() parses, runs it and turns errors
// into exit codes.
#pragma once

#include <functional>
#include <string>

#include "configuration.hpp"
#include "paceline/expected.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

// Exit codes (docs/errors.md).
inline constexpr int kExitFailed = 1;
inline constexpr int kExitInvalid = 2;
inline constexpr int kSignalled = 128;  ///< plus the signal's number: 130, 143, 138

int exit_code(ErrorCode code);

/// The other way round. @pre code is not 0
ErrorCode error_code(int code);

/// What the chosen subcommand does once all options are read; it gets the command line as typed.
using Run = std::function<Expected<void>(const std::string& typed)>;

void add_bounds(CLI::App& program, Run& run);
void add_delays(CLI::App& program, Run& run);
void add_code(CLI::App& program, Run& run);
void add_codes(CLI::App& program, Run& run);
/// @param origins  filled before anything runs, as of the others
void add_compare(CLI::App& program, Run& run, const Origins& origins);
void add_config(CLI::App& program, Run& run, const Origins& origins);
void add_probe(CLI::App& program, Run& run, const Origins& origins);
void add_train(CLI::App& program, Run& run, const Origins& origins);
void add_predict(CLI::App& program, Run& run);
void add_report(CLI::App& program, Run& run);
void add_schemes(CLI::App& program, Run& run);
void add_simulate(CLI::App& program, Run& run, const Origins& origins);
void add_tune(CLI::App& program, Run& run);
void add_version(CLI::App& program, Run& run);

/// What `paceline version` prints.
std::string version_text();

}  // namespace paceline::app
