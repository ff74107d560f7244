// Wide CSV: one line per round, one column per worker.
#pragma once

#include <string>
#include <string_view>

#include "paceline/delay_profile.hpp"

namespace paceline {

/// Times in the file's own unit.
Expected<DelayProfile> parse_wide_csv(std::string_view text, const std::string& name);

}  // namespace paceline
