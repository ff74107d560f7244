// Parameters that are one number per worker: "0.1" for all, or "0.1/0.2/0.2/0.3".
#pragma once

#include <string_view>
#include <vector>

#include "paceline/parameters.hpp"

namespace paceline {

/// Shape (n): key='s one number for all, or one per worker separated by '/', each in [low, high].
std::vector<double> read_numbers(ParameterText& parameters,
                                 std::string_view key,
                                 int workers,
                                 double low,
                                 double high,
                                 double fallback);

}  // namespace paceline
