// The pages without their contents: report.html.in, its parts and compare.html.in with their styles and
// scripts in their places, put into the program when CMake configures. What is left to fill in
// stands in double braces.
#pragma once

#include <string_view>

namespace paceline {

std::string_view report_page();  ///< the frame of a page of runs
std::string_view run_part();     ///< one run in it
std::string_view runs_part();    ///< several runs side by side, and each of them
std::string_view comparison_page();

}  // namespace paceline
