// The pages without their contents: report.html.in and compare.html.in with their styles and
// scripts in their places, put into the program when CMake configures. What is left to fill in
// stands in double braces.
#pragma once

#include <string_view>

namespace paceline {

std::string_view run_page();
std::string_view comparison_page();

}  // namespace paceline
