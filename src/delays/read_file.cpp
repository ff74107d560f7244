#include "delays/read_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace paceline {

Expected<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    const std::string why = errno != 0 ? std::strerror(errno) : "it cannot be read";
    return invalid(fmt::format("delay profile '{}': {}", path, why));
  }
  return std::move(text).str();
}

}  // namespace paceline
