// The page without its contents: report.html.in with report.css and report.js in their places, put
// into the program when CMake configures. What is left to fill in stands in double braces.
#pragma once

#include <string_view>

namespace paceline {

std::string_view page_template();

}  // namespace paceline
