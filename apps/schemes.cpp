// paceline schemes: every scheme with its parameters, load, decode delay and source.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "paceline/scheme.hpp"

namespace paceline::app {
namespace {

void print_text() {
  for (const SchemeDescription& scheme : scheme_catalog()) {
    fmt::print("{}\n  {}\n", scheme.name, scheme.summary);
    fmt::print("  load {}   decode delay {}\n", scheme.load, scheme.decode_delay);
    for (const SchemeParameter& parameter : scheme.parameters) {
      fmt::print("    {:<10} {:<34} {}\n", parameter.name, parameter.allowed, parameter.meaning);
    }
    fmt::print("  source   {}\n  example  --scheme {}\n\n", scheme.source, scheme.example);
  }
}

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const SchemeDescription& scheme : scheme_catalog()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const SchemeParameter& parameter : scheme.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"allowed", parameter.allowed},
                            {"meaning", parameter.meaning}});
    }
    all.push_back({{"name", scheme.name},
                   {"summary", scheme.summary},
                   {"parameters", parameters},
                   {"load", scheme.load},
                   {"decode_delay", scheme.decode_delay},
                   {"source", scheme.source},
                   {"example", scheme.example}});
  }
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_schemes(CLI::App& program, Run& run) {
  CLI::App* command =
      program.add_subcommand("schemes", "List every scheme with its parameters and source");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &run] {
    run = [json](const std::string&) -> Expected<void> {
      *json ? print_json() : print_text();
      return {};
    };
  });
}

}  // namespace paceline::app
