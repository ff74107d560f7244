// One precedence for all options: what was typed, then the environment, then a file, then defaults.
#pragma once

#include <map>
#include <string>

#include "paceline/expected.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

/// Who gave an option its value, by the option's name: "environment PACELINE_SEED", "file
/// run.toml:3". Options that are not in it were typed or have their defaults.
using Origins = std::map<std::string, std::string>;

/// Adds --config FILE. A command that has it takes options from the environment, too.
void add_config_option(CLI::App& command);

/// Gives the command that the arguments choose what environment and file say and the arguments do
/// not. To be called before the program parses; does nothing for a command without --config.
/// @return  an error for unknown names and values that an option cannot take
Expected<Origins> configure(CLI::App& program, int argc, const char* const* argv);

/// " (--profile: file run.toml:3)" for the options that a message names and nobody typed, else
/// empty.
std::string named_origins(const std::string& message, const Origins& origins);

}  // namespace paceline::app
