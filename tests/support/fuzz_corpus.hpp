// Replays the corpus of a fuzz target as a plain test: every input that once mattered stays a test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace paceline::test {

/// Feeds every file of tests/fuzz/corpus/<name> to the fuzz target this program is linked with.
/// @return how many there were
inline int replay_corpus(const std::string& name) {
  const auto folder = std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/fuzz/corpus" / name;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_NO_THROW(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++inputs;
  }
  return inputs;
}

}  // namespace paceline::test
