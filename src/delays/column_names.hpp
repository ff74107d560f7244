// Where a file in long form, or a trace, has its rounds, workers and times.
#pragma once

#include <string>

#include "paceline/expected.hpp"

namespace paceline {

/// Empty: not said, so the format's own default.
struct ColumnNames {
  std::string round;
  std::string worker;
  std::string seconds;
  std::string events;  ///< traces only: a part of the names of the events that count
};

/// @param text  "round=step,worker=rank,seconds=duration", any of them, or empty
Expected<ColumnNames> parse_column_names(const std::string& text, bool trace);

}  // namespace paceline
