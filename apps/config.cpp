// paceline config: every option of `train` with its value and who gave it that value.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "train_options.hpp"
#include "train_setup.hpp"

namespace paceline::app {
namespace {

/// A dash stands for an option that has no value: help says what then holds.
std::string value_or_dash(const Setting& setting) {
  return setting.value.empty() ? "-" : setting.value;
}

void print_settings(const std::vector<Setting>& settings) {
  std::size_t option = 6;
  std::size_t value = 5;
  for (const Setting& setting : settings) {
    option = std::max(option, setting.key.size());
    value = std::max(value, value_or_dash(setting).size());
  }
  fmt::print("{:<{}}  {:<{}}  {}\n", "option", option, "value", value, "origin");
  for (const Setting& setting : settings) {
    fmt::print(
        "{:<{}}  {:<{}}  {}\n", setting.key, option, value_or_dash(setting), value, setting.origin);
  }
}

}  // namespace

void add_config(CLI::App& program, Run& run, const Origins& origins) {
  register_models();
  CLI::App* command = program.add_subcommand(
      "config", "Print what `train` with the same options would be told, and by whom");
  auto options = std::make_shared<TrainOptions>();
  const std::string effective = "All options with their values and origins (needed)";
  command->add_flag("--effective", effective)->required()->configurable(false);
  add_train_options(*command, *options);
  command->callback([options, command, &run, &origins] {
    run = [options, command, &origins](const std::string&) -> Expected<void> {
      const std::vector<Setting> settings = effective_settings(*command, origins);
      if (options->json) {
        fmt::print("{}", settings_json(settings));
      } else {
        print_settings(settings);
      }
      return {};
    };
  });
}

}  // namespace paceline::app
