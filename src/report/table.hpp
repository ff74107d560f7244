// The comparison of schemes as columns of texts, which the terminal and the page lay out each in
// its own way.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "paceline/run_report.hpp"
#include "paceline/run_reports.hpp"

namespace paceline {

struct Column {
  std::string heading;
  std::string unit;     ///< second line of the heading; may be empty
  std::string meaning;  ///< one line
  int rank = 0;         ///< the larger, the sooner it is left out where space is short; 0: never
  std::vector<std::string> cells;  ///< one per scheme; "-": not known
};

/// Columns with at least one known cell, the first one the schemes' labels. Numbers of a column
/// have the same unit and, where that suits them, the same number of decimals.
std::vector<Column> comparison(const RunReport& report);

/// What the comparison has no space for: counts, bytes, each model's accuracy.
std::vector<Column> details(const RunReport& report);

/// Columns of the schemes of several runs, in order, the first one the runs' names: what they were
/// asked for, times, accuracy, loss.
std::vector<Column> side_by_side(std::span<const NamedReport> runs);

/// `value` with so many decimals that `largest` has four significant digits: 21.35, 213.5, 2135.
std::string aligned_number(double value, double largest);

}  // namespace paceline
