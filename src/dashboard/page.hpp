// The page, put together when CMake configures.
#pragma once

#include <string_view>

namespace paceline {

std::string_view live_page();

}  // namespace paceline
