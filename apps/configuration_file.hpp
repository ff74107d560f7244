// What a configuration file says, in TOML as CLI11 reads it or in JSON: the first character decides
// which.
#pragma once

#include <string>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline::app {

struct FileEntry {
  std::string key;
  std::vector<std::string> values;  ///< at least one; none is empty
  std::string place;                ///< "run.toml:3", or the file alone where the line is not known
};

/// @return  the entries in their order; an error that names the file, and the line where that is
///          known, if it cannot be read, is no such file, or gives a key twice
Expected<std::vector<FileEntry>> read_configuration_file(const std::string& path);

}  // namespace paceline::app
