// paceline version: what this program was built with, and what of it is found on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "command.hpp"
#ifdef PACELINE_HAVE_TORCH
#include "paceline/torch_plugin.hpp"
#endif
#ifdef PACELINE_HAVE_MPI
#include "paceline/mpi_link.hpp"
#endif

namespace paceline::app {
namespace {

constexpr const char* kCompiler =
#ifdef __clang__
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

constexpr bool kHasDashboard =
#ifdef PACELINE_HAVE_DASHBOARD
    true;
#else
    false;
#endif

struct Built {
  std::string mpi;            ///< the library; empty: built without
  bool with_torch = false;    ///< built with
  std::string torch_version;  ///< empty: the plugin cannot be loaded
  std::string torch_plugin;
  std::string torch_library;
  std::string torch_missing;  ///< why it cannot
};

/// Loads LibTorch, to say which one it finds.
Built built_with() {
  Built built;
#ifdef PACELINE_HAVE_MPI
  built.mpi = mpi_library();
#endif
#ifdef PACELINE_HAVE_TORCH
  built.with_torch = true;
  if (const auto torch = find_torch_library()) {
    built.torch_version = torch->version;
    built.torch_plugin = torch->plugin;
    built.torch_library = torch->library;
  } else {
    built.torch_missing = torch.error().message;
  }
#endif
  return built;
}

std::string torch_text(const Built& built) {
  if (!built.with_torch) return "none (built without)";
  if (built.torch_version.empty()) return "none: " + built.torch_missing;
  return fmt::format("{}, {}", built.torch_version, built.torch_library);
}

nlohmann::ordered_json to_json(const Built& built) {
  nlohmann::ordered_json transports = {"local"};
  if (!built.mpi.empty()) transports.push_back("mpi");
  nlohmann::ordered_json mpi = nullptr;
  if (!built.mpi.empty()) mpi = built.mpi;
  nlohmann::ordered_json torch = nullptr;
  if (!built.torch_version.empty()) {
    torch = {{"version", built.torch_version},
             {"library", built.torch_library},
             {"plugin", built.torch_plugin}};
  }
  return {{"version", PACELINE_VERSION},
          {"transports", std::move(transports)},
          {"mpi", std::move(mpi)},
          {"built_with_torch", built.with_torch},
          {"torch", std::move(torch)},
          {"dashboard", kHasDashboard},
          {"compiler", kCompiler},
          {"build_type", PACELINE_BUILD_TYPE}};
}

}  // namespace

std::string version_text() {
  const Built built = built_with();
  return fmt::format(
      "paceline {}\n"
      "transports  local{}\n"
      "LibTorch    {}\n"
      "dashboard   {}\n"
      "compiler    {}, {}",
      PACELINE_VERSION,
      built.mpi.empty() ? "" : ", mpi (" + built.mpi + ")",
      torch_text(built),
      kHasDashboard ? "yes" : "no",
      kCompiler,
      PACELINE_BUILD_TYPE);
}

void add_version(CLI::App& program, Run& run) {
  CLI::App* command =
      program.add_subcommand("version", "Say what this program was built with, and what it finds");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &run] {
    run = [json](const std::string&) -> Expected<void> {
      fmt::print("{}\n", *json ? to_json(built_with()).dump(2) : version_text());
      return {};
    };
  });
}

}  // namespace paceline::app
