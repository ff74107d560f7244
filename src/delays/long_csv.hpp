// Long CSV: a line of column names, then one line per measurement.
#pragma once

#include <string>
#include <string_view>

#include "delays/column_names.hpp"
#include "paceline/delay_profile.hpp"

namespace paceline {

/// Whether a line names columns: at least two cells, and none begins like a number.
bool names_columns(std::string_view line);

/// Times in the file's own unit.
Expected<DelayProfile> parse_long_csv(std::string_view text,
                                      const std::string& name,
                                      const ColumnNames& names);

}  // namespace paceline
