// Finds the measured profiles and expected tables that tests compare with but that do not belong to
// this repository: in the folder PACELINE_SHARED, else beside the sources.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace paceline::test {

/// The path of a shared file, or an empty string if it is not there (the test then skips).
inline std::string shared_file(const std::string& name) {
  const char* given = std::getenv("PACELINE_SHARED");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(PACELINE_SOURCE_DIR) / ".." / "shared";
  std::error_code error;
  const std::filesystem::path path = folder / name;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace paceline::test

/// Skips the test unless the shared file is there; else defines `variable` as its path.
#define PACELINE_NEED_SHARED_FILE(variable, name)                                        \
  const std::string variable = ::paceline::test::shared_file(name);                      \
  if (variable.empty()) {                                                                \
    GTEST_SKIP() << "no " << (name) << " in PACELINE_SHARED or ../shared: not compared"; \
  }                                                                                      \
  static_assert(true, "")
