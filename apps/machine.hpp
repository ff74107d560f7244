// Where and when a run took place, for its report.
#pragma once

#include <string>

namespace paceline::app {

/// One line: processor, cores, memory.
std::string machine_line();

/// Local time by strftime's format.
std::string local_time(const char* format);

}  // namespace paceline::app
