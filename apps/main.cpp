// The paceline program. Exit codes: 0 done, 1 a run failed, 2 what was asked or given is wrong, 128
// and its number: ended by a signal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command.hpp"
#include "configuration.hpp"
#include "interrupt.hpp"
#include "paceline/suggest.hpp"
#include "ranks.hpp"

namespace paceline::app {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return kExitInvalid;
    case ErrorCode::kInterrupted:
      return interrupted_exit_code();
    case ErrorCode::kFailed:
      break;
  }
  return kExitFailed;
}

ErrorCode error_code(int code) {
  if (code == kExitInvalid) return ErrorCode::kInvalid;
  return code > kSignalled ? ErrorCode::kInterrupted : ErrorCode::kFailed;
}

namespace {

void complain(const std::string& message) { fmt::print(stderr, "paceline: {}\n", message); }

/// The subcommand on the command line, or the program itself.
const CLI::App& active(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  return chosen.empty() ? program : *chosen.front();
}

/// CLI11's own messages, in one line, with the nearest right name for an option or subcommand that
/// does not exist.
std::string parse_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = active(program);
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) {
    const std::string what = error.what();  // "Could not convert: --jobs = x"
    const std::string prefix = "Could not convert: ";
    return what.starts_with(prefix)
               ? what.substr(prefix.size()) + " is not allowed; a number is expected"
               : what;
  }
  const bool option = left.front().starts_with("-");
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* known : app.get_options()) {
      for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* known : program.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(known->get_name());
    }
  }
  return unknown_name(option ? "option" : "command", left.front(), names);
}

/// Every rank reads the same command line and finds the same mistake. Rank 0 says so and ends, and
/// the launcher ends the others; one that is still there afterwards has found something of its own.
void leave_the_line_to_rank_0() {
  const auto launch = launch_of_this_process();
  if (launch && launch->rank > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
}

/// The command line as a shell would take it.
std::string typed(int argc, char** argv) {
  std::string text = "paceline";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool plain =
        argument.find_first_of(" \t\n\"'$&;|<>()*?#~") == std::string::npos && !argument.empty();
    text += plain ? " " + argument : " '" + argument + "'";
  }
  return text;
}

int run_program(int argc, char** argv) {
  CLI::App program(
      "Trains several models at once on workers that are slow or fail without warning.",
      "paceline");
  program.set_version_flag("--version", version_text);
  program.option_defaults()->take_last();  // a later flag overrides an earlier one
  program.require_subcommand(1);
  program.footer("More: paceline COMMAND --help");
  Run run;
  Origins origins;
  add_train(program, run, origins);
  add_predict(program, run);
  add_config(program, run, origins);
  add_simulate(program, run, origins);
  add_probe(program, run, origins);
  add_delays(program, run);
  add_tune(program, run);
  add_compare(program, run, origins);
  add_report(program, run);
  add_schemes(program, run);
  add_codes(program, run);
  add_code(program, run);
  add_bounds(program, run);
  add_version(program, run);
  auto configured = configure(program, argc, argv);
  if (!configured) {
    leave_the_line_to_rank_0();
    complain(configured.error().message);
    return kExitInvalid;
  }
  origins = std::move(*configured);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    leave_the_line_to_rank_0();
    const std::string message = parse_message(program, error);
    complain(message + named_origins(message, origins));
    return kExitInvalid;
  }
  if (const auto done = run(typed(argc, argv)); !done) {
    if (!done.error().message.empty()) complain(done.error().message);  // else rank 0 says it
    return exit_code(done.error().code);
  }
  if (std::fflush(stdout) != 0) {
    complain("cannot write the output: no space left, or the reader has gone");
    return kExitFailed;
  }
  return 0;
}

}  // namespace
}  // namespace paceline::app

int main(int argc, char** argv) {
  try {
    return paceline::app::run_program(argc, argv);
  } catch (const std::exception& error) {  // a bug of ours: say so, do not pretend it is the user's
    fmt::print(stderr, "paceline: internal error: {}\n", error.what());
    return paceline::app::kExitFailed;
  }
}
