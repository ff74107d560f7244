// A whole file as bytes.
#pragma once

#include <string>

#include "paceline/expected.hpp"

namespace paceline {

Expected<std::string> read_file(const std::string& path);

}  // namespace paceline
