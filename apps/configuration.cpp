#include "configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "configuration_file.hpp"
#include "paceline/parameters.hpp"
#include "paceline/suggest.hpp"

namespace paceline::app {
namespace {

constexpr std::string_view kVariablePrefix = "PACELINE_";
/// Variables that belong to no option: tests look for data there.
constexpr std::array<std::string_view, 2> kTestVariables = {"PACELINE_MNIST", "PACELINE_SHARED"};
constexpr std::string_view kConfig = "config";

/// "PACELINE_RUN_DIR" of "run-dir".
std::string variable_of(std::string_view name) {
  std::string variable(kVariablePrefix);
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

bool is_configurable(const CLI::App* command) {
  return command->get_option_no_throw("--" + std::string(kConfig)) != nullptr;
}

/// The command that the arguments choose, nullptr if none is, or one that takes no configuration.
CLI::App* chosen_command(CLI::App& program, const std::vector<std::string>& arguments) {
  const auto is_first = [&](const CLI::App* command) {
    return !arguments.empty() && command->get_name() == arguments.front();
  };
  const auto found = program.get_subcommands([&](CLI::App* command) { return is_first(command); });
  return found.empty() || !is_configurable(found.front()) ? nullptr : found.front();
}

/// The options that were typed, by their names, each with what follows it.
std::map<std::string, std::string> typed_options(const CLI::App& command,
                                                 const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> typed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    const auto equals = argument.find('=');
    const CLI::Option* option = command.get_option_no_throw(argument.substr(0, equals));
    if (option == nullptr) continue;
    std::string& value = typed[option->get_single_name()];
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else {
      value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    }
  }
  return typed;
}

/// Yes, no or neither.
std::optional<bool> to_truth(const std::string& text) {
  const std::string lower = CLI::detail::to_lower(text);
  if (lower == "true" || lower == "yes" || lower == "on" || lower == "1") return true;
  if (lower == "false" || lower == "no" || lower == "off" || lower == "0") return false;
  return std::nullopt;
}

/// " above 0", " of at least 0" or nothing, by the check that the option makes.
std::string_view bound_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "INT:POSITIVE"
  if (type.ends_with(":POSITIVE")) return " above 0";
  if (type.ends_with(":NONNEGATIVE")) return " of at least 0";
  return {};
}

/// What an option that takes numbers expects; of others empty.
std::string number_expected(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool whole = type.starts_with("INT") || type.starts_with("UINT");
  if (!whole && !type.starts_with("FLOAT")) return {};
  return fmt::format("{}{} is expected", whole ? "a whole number" : "a number", bound_of(option));
}

/// Gives an option its values as if they had been typed.
/// @param said  what stands before the value, for errors: "run.toml:3: workers = "
Expected<void> give(CLI::Option& option,
                    const std::vector<std::string>& values,
                    const std::string& said) {
  const auto wrong = [&](std::string_view expected) {
    return invalid(fmt::format("{}{} is not allowed; {}", said, fmt::join(values, ", "), expected));
  };
  if (values.size() > 1 && option.get_expected_max() <= 1) {
    return wrong("one value is expected (a text with commas or blanks stands in quotes)");
  }
  if (option.get_expected_min() == 0) {  // a flag, or --resume, whose folder may be left out
    const std::optional<bool> on = to_truth(values.front());
    if (!on && option.get_expected_max() == 0) return wrong("true or false is expected");
    if (on && !*on) return {};
    option.add_result(!on ? values.front() : option.get_expected_max() == 0 ? "true" : "");
    return {};
  }
  const std::string number = number_expected(option);
  const bool single = option.get_delimiter() == '\0';
  for (const std::string& value : values) {
    if (single && !number.empty() && !to_number(value)) return wrong(number);
  }
  try {
    option.add_result(values);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    const bool conversion = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
    if (conversion || !bound_of(option).empty()) return wrong(number);
    const std::string what = error.what();  // "--transport: bus not in {auto,local,mpi}"
    const std::string name = option.get_name() + ": ";
    return wrong(what.starts_with(name) ? what.substr(name.size()) : what);
  }
  return {};
}

/// Every variable that some command reads, with the option that it sets.
std::map<std::string, std::string> known_variables(const CLI::App& program) {
  std::map<std::string, std::string> known;
  for (const CLI::App* command : program.get_subcommands(is_configurable)) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (option->get_configurable() || name == kConfig) known[variable_of(name)] = name;
      }
    }
  }
  return known;
}

/// The variables of this process that begin with PACELINE_, in alphabetical order.
std::map<std::string, std::string> own_variables() {
  std::map<std::string, std::string> own;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kVariablePrefix)) continue;
    const auto equals = std::min(text.find('='), text.size());
    own[std::string(text.substr(0, equals))] = text.substr(std::min(equals + 1, text.size()));
  }
  return own;
}

/// Names are compared without the prefix that they all have.
Error unknown_variable(const std::string& variable,
                       const std::map<std::string, std::string>& known) {
  std::vector<std::string> names;
  for (const auto& [name, option] : known) names.push_back(name.substr(kVariablePrefix.size()));
  const std::string near = nearest_name(variable.substr(kVariablePrefix.size()), names);
  return {ErrorCode::kInvalid,
          near.empty()
              ? fmt::format("unknown environment variable '{}'; no command has such an option",
                            variable)
              : fmt::format("unknown environment variable '{}'; did you mean '{}{}'?",
                            variable,
                            kVariablePrefix,
                            near)};
}

using Typed = std::map<std::string, std::string>;

Expected<void> take_environment(const CLI::App& program,
                                CLI::App& command,
                                const Typed& typed,
                                Origins& origins) {
  const auto known = known_variables(program);
  for (const auto& [variable, value] : own_variables()) {
    const auto found = known.find(variable);
    if (found == known.end()) {
      if (std::ranges::find(kTestVariables, variable) != kTestVariables.end()) continue;
      return Unexpected(unknown_variable(variable, known));
    }
    CLI::Option* const option = command.get_option_no_throw("--" + found->second);
    if (value.empty() || option == nullptr) continue;
    const std::string name = option->get_single_name();
    if (typed.contains(name)) continue;
    if (const auto other = origins.find(name); other != origins.end()) {
      return invalid(fmt::format("{} and {} set the same option", other->second, variable));
    }
    if (auto given = give(*option, {value}, variable + "="); !given) return given;
    origins[name] = "environment " + variable;
  }
  return {};
}

/// The option that a key of a file sets.
Expected<CLI::Option*> option_of(CLI::App& command, const FileEntry& entry) {
  CLI::Option* const option = command.get_option_no_throw("--" + entry.key);
  if (option != nullptr && option->get_configurable()) return option;
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    if (!known->get_configurable()) continue;
    for (const std::string& name : known->get_lnames()) names.push_back(name);
  }
  const std::string near = nearest_name(entry.key, names);
  return invalid(
      near.empty()
          ? fmt::format("{}: unknown option '{}'; paceline {} --help lists them",
                        entry.place,
                        entry.key,
                        command.get_name())
          : fmt::format(
                "{}: unknown option '{}'; did you mean '{}'?", entry.place, entry.key, near));
}

Expected<void> take_file(const std::string& path,
                         CLI::App& command,
                         const Typed& typed,
                         Origins& origins) {
  const auto entries = read_configuration_file(path);
  if (!entries) return Unexpected(entries.error());
  std::map<std::string, std::string> places;
  for (const FileEntry& entry : *entries) {
    const auto option = option_of(command, entry);
    if (!option) return Unexpected(option.error());
    const std::string name = (*option)->get_single_name();
    if (const auto [first, is_new] = places.emplace(name, entry.place); !is_new) {
      return invalid(
          fmt::format("{}: {} is given already at {}", entry.place, name, first->second));
    }
    if (typed.contains(name) || origins.contains(name)) continue;
    const std::string said = fmt::format("{}: {} = ", entry.place, entry.key);
    if (auto given = give(**option, entry.values, said); !given) return given;
  }
  for (const auto& [name, place] : places) {
    if (!typed.contains(name)) origins.emplace(name, "file " + place);
  }
  return {};
}

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

void add_config_option(CLI::App& command) {
  command
      .add_option("--config",
                  "File with options, TOML or JSON; PACELINE_<OPTION> in the environment comes "
                  "before it, what is typed before both")
      ->type_name("FILE")
      ->configurable(false);
}

Expected<Origins> configure(CLI::App& program, int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  CLI::App* const command = chosen_command(program, arguments);
  if (command == nullptr || std::ranges::any_of(arguments, asks_for_help)) return Origins{};
  const Typed typed = typed_options(*command, arguments);
  Origins origins;
  if (auto done = take_environment(program, *command, typed, origins); !done) {
    return Unexpected(done.error());
  }
  const CLI::Option* config = command->get_option("--" + std::string(kConfig));
  const auto asked = typed.find(std::string(kConfig));
  std::string path;
  if (asked != typed.end()) {
    path = asked->second;
  } else if (config->count() > 0) {
    path = config->results().back();
  }
  if (path.empty()) return origins;
  if (auto done = take_file(path, *command, typed, origins); !done) {
    return Unexpected(done.error());
  }
  return origins;
}

std::string named_origins(const std::string& message, const Origins& origins) {
  std::string named;
  for (const auto& [name, origin] : origins) {
    const std::string option = "--" + name;
    // With the blank: not --slope in --slope-factor.
    if ((message + " ").find(option + " ") == std::string::npos) continue;
    named += fmt::format("{}{}: {}", named.empty() ? " (" : ", ", option, origin);
  }
  return named.empty() ? named : named + ")";
}

}  // namespace paceline::app
