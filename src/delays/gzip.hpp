// Files compressed with gzip.
#pragma once

#include <string>
#include <string_view>

#include "paceline/expected.hpp"

namespace paceline {

bool is_gzip(std::string_view bytes);

/// The uncompressed bytes, at most 1 GiB of them.
Expected<std::string> gunzip(std::string_view bytes, const std::string& name);

}  // namespace paceline
