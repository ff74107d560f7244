// How wide a text is on a terminal.
#pragma once

#include <algorithm>
#include <string_view>

namespace paceline {

/// Columns `text` takes: its UTF-8 characters, each of which must be one column wide.
inline int columns(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace paceline
