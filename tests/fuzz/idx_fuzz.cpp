// Whatever bytes come in, the parser gives a one-line error or a data set that keeps its promises.
// A libFuzzer target (tests/fuzz/CMakeLists.txt); its corpus is also replayed as a plain test.
//
// An input is the number of bytes of the image file (two bytes, high one first), then the image
// file, then the label file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "paceline/check.hpp"
#include "paceline/data_set.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = std::min<std::size_t>(data[0] * 256U + data[1], bytes.size());
  const auto parsed =
      paceline::parse_idx(bytes.substr(0, split), bytes.substr(split), "images", "labels");
  if (!parsed) {
    const std::string& message = parsed.error().message;
    PACELINE_CHECK(message.starts_with("images: ") || message.starts_with("labels: "));
    PACELINE_CHECK(message.find('\n') == std::string::npos && message.size() < 300);
    return 0;
  }
  PACELINE_CHECK(parsed->samples >= 1 && parsed->features == parsed->height * parsed->width);
  const auto samples = static_cast<std::size_t>(parsed->samples);
  PACELINE_CHECK(parsed->labels.size() == samples);
  PACELINE_CHECK(parsed->inputs.size() == samples * static_cast<std::size_t>(parsed->features));
  for (const float x : parsed->inputs) PACELINE_CHECK(x >= 0 && x <= 1);
  for (const std::int32_t y : parsed->labels) PACELINE_CHECK(y >= 0 && y < parsed->classes);
  return 0;
}
