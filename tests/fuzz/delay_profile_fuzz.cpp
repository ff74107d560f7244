// Whatever bytes come in, the parser gives a one-line error or a profile that keeps its promises.
// A libFuzzer target (tests/fuzz/CMakeLists.txt); its corpus is also replayed as a plain test.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "paceline/check.hpp"
#include "paceline/delays.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = paceline::parse_delay_profile(text, "fuzz.csv");
  if (!profile) {
    const std::string& message = profile.error().message;
    PACELINE_CHECK(message.starts_with("fuzz.csv: "));
    PACELINE_CHECK(message.find('\n') == std::string::npos && message.size() < 300);
    return 0;
  }
  PACELINE_CHECK(profile->rounds >= 1 && profile->workers >= 1);
  PACELINE_CHECK(profile->seconds.size() == static_cast<std::size_t>(profile->rounds) *
                                                static_cast<std::size_t>(profile->workers));
  PACELINE_CHECK(profile->load >= 0 && profile->load <= 1);
  for (const double seconds : profile->seconds) {
    PACELINE_CHECK(std::isfinite(seconds) && seconds > 0);
  }
  return 0;
}
