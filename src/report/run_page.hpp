// The parts of a page of runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "paceline/run_report.hpp"
#include "report/table.hpp"

namespace paceline {

/// One run: its tables, and the places where its charts are drawn.
/// @param at    what the ids of its places begin with; unlike those of other runs of the page
/// @param name  stands before its title; empty where it is the only run
std::string run_html(const RunReport& report, const std::string& at, const std::string& name);

/// A table with a line per cell of the columns; line `best` is bold.
std::string columns_html(const std::vector<Column>& columns, std::size_t best);

}  // namespace paceline
