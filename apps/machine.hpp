// Where and when a run took place, for its report; and a clock for what is measured.
#pragma once

#include <string>

#include "paceline/ids.hpp"

namespace paceline::app {

/// One line: processor, cores, memory.
std::string machine_line();

/// Local time by strftime's format.
std::string local_time(const char* format);

/// Seconds since some fixed moment, never backwards.
Seconds steady_time();

}  // namespace paceline::app
