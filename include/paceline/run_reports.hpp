// Several runs together: their reports read back from disk, one page and figures for papers of all
// of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/compare.hpp"
#include "paceline/expected.hpp"
#include "paceline/run_report.hpp"

namespace paceline {

struct NamedReport {
  std::string name;  ///< short, unlike those of the other runs
  RunReport report;
};

/// Reads what to_json() wrote.
/// @param path  the file, or the folder of a run, whose report.json it is
/// @return an error that names the file and what is wrong with it: it is missing, half written, no
///         report, of another version, or a member is missing or of the wrong type
Expected<RunReport> read_report(const std::string& path);

/// The rows of a comparison as a report, for a page with other runs: mean times over the resamples,
/// rounds of the first one. Title, command, date, machine and configuration are left to the caller.
RunReport as_report(const Comparison& comparison);

/// A line for each run whose figures say nothing about those of the first, with what they differ in:
/// models or data, delays, workers.
std::vector<std::string> incomparable(std::span<const NamedReport> runs);

/// One self-contained page: of one run that of report_html(), of several a table of all their
/// schemes, their times and losses in one chart each, and below it each run's own part.
/// @param left_out  a line for each run that could not be read, to stand above
std::string reports_html(std::span<const NamedReport> runs, std::span<const std::string> left_out);

/// A file of a figure: gnuplot's data and script.
struct FigureFile {
  std::string name;  ///< "loss.gp"
  std::string text;
};

/// The charts of the page as figures for a column of a paper (85 mm): times of all schemes, loss
/// over time, response times of every scheme. Each is a script NAME.gp, which draws NAME.svg or
/// NAME.png from tables NAME*.dat beside it.
/// @param formats  "svg", "png"
std::vector<FigureFile> figures(std::span<const NamedReport> runs,
                                std::span<const std::string> formats);

}  // namespace paceline
