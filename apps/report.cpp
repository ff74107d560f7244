// paceline report: one page, and figures, of runs that have ended.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "paceline/metrics.hpp"
#include "paceline/run_reports.hpp"

namespace paceline::app {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string page = "report.html";
  std::string figures;
  std::vector<std::string> formats = {"svg"};
};

/// The last part of each path, or the whole where two would be the same.
std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    std::filesystem::path plain = std::filesystem::path(path).lexically_normal();
    if (!plain.has_filename()) plain = plain.parent_path();
    if (plain.filename() == "report.json") plain = plain.parent_path();
    if (plain.extension() == ".json") plain = plain.stem();
    names.push_back(plain.filename().string());
  }
  std::vector<std::string> unique = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || std::ranges::count(names, names[i]) > 1) unique[i] = paths[i];
  }
  return unique;
}

/// @return gnuplot's exit status; nothing where there is no gnuplot
Expected<std::optional<int>> run_gnuplot(const std::string& folder, const std::string& script) {
  const std::string program = "gnuplot";
  const char* const arguments[] = {program.c_str(), script.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, "gnuplot.log", O_WRONLY | O_CREAT | O_APPEND, 0666);
  pid_t child = 0;
  const int trouble = ::posix_spawnp(
      &child, program.c_str(), &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (trouble == ENOENT) return std::optional<int>();
  if (trouble != 0) {
    return failed("cannot start gnuplot: " + std::generic_category().message(trouble));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return std::optional<int>(WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed);
}

Expected<void> draw(const ReportOptions& options, const std::vector<NamedReport>& runs) {
  std::error_code trouble;
  std::filesystem::create_directories(options.figures, trouble);
  if (trouble) {
    return invalid(fmt::format(
        "--figures {}: cannot make this folder: {}", options.figures, trouble.message()));
  }
  const std::vector<FigureFile> files = figures(runs, options.formats);
  for (const FigureFile& file : files) {
    if (auto written = write_text_file(options.figures + "/" + file.name, file.text); !written) {
      return written;
    }
  }
  int drawn = 0;
  for (const FigureFile& file : files) {
    if (!file.name.ends_with(".gp")) continue;
    const auto status = run_gnuplot(options.figures, file.name);
    if (!status) return Unexpected(status.error());
    if (!*status) {
      fmt::print(
          stderr,
          "paceline: gnuplot is not installed (Debian: gnuplot-nox): {} has data and scripts, "
          "but no pictures\n",
          options.figures);
      return {};
    }
    if (**status != 0) {
      return failed(fmt::format(
          "gnuplot {0}/{1} failed: {0}/gnuplot.log says why", options.figures, file.name));
    }
    ++drawn;
  }
  fmt::print("figures: {} in {} as {}\n", drawn, options.figures, fmt::join(options.formats, ", "));
  return {};
}

Expected<void> run_report(const ReportOptions& options) {
  std::vector<NamedReport> runs;
  std::vector<std::string> left_out;
  const std::vector<std::string> names = names_of(options.runs);
  for (std::size_t i = 0; i < options.runs.size(); ++i) {
    auto report = read_report(options.runs[i]);
    if (report) {
      runs.push_back({names[i], *std::move(report)});
    } else {
      left_out.push_back(report.error().message);
    }
  }
  if (runs.empty()) {
    return invalid(fmt::format("{}", fmt::join(left_out, "\npaceline: ")));
  }
  for (const std::string& line : left_out) fmt::print(stderr, "paceline: left out: {}\n", line);
  for (const std::string& line : incomparable(runs)) fmt::print(stderr, "paceline: {}\n", line);
  if (auto written = write_text_file(options.page, reports_html(runs, left_out)); !written) {
    return written;
  }
  fmt::print("report: {}\n", options.page);
  if (!options.figures.empty()) {
    if (auto drawn = draw(options, runs); !drawn) return drawn;
  }
  if (left_out.empty()) return {};
  return invalid(fmt::format("{} of {} runs are left out", left_out.size(), options.runs.size()));
}

}  // namespace

void add_report(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand(
      "report", "One page of runs and simulations side by side, and figures for papers");
  auto options = std::make_shared<ReportOptions>();
  command
      ->add_option(
          "RUN", options->runs, "Folders of train, or files of simulate --save and compare --save")
      ->take_all()
      ->required();
  command->add_option("--out", options->page, "Where the page goes")->capture_default_str();
  command->add_option(
      "--figures",
      options->figures,
      "Draw the charts with gnuplot for a paper's column, into this folder; data and "
      "scripts stay beside them");
  command->add_option("--figure-format", options->formats, "Of the figures: svg, png, pdf")
      ->delimiter(',')
      ->take_all()
      ->check(CLI::IsMember({"svg", "png", "pdf"}))
      ->capture_default_str();
  command->callback(
      [options, &run] { run = [options](const std::string&) { return run_report(*options); }; });
}

}  // namespace paceline::app
