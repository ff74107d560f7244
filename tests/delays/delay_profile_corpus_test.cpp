// Replays the corpus of the fuzz target: every input that once mattered stays a test.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace paceline {
namespace {

TEST(DelayProfileCorpus, EveryInputGivesAProfileOrAnError) {
  const std::filesystem::path folder =
      std::filesystem::path(PACELINE_SOURCE_DIR) / "tests/fuzz/corpus/delay_profile";
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_NO_THROW(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    ++inputs;
  }
  EXPECT_GE(inputs, 12);
}

}  // namespace
}  // namespace paceline
