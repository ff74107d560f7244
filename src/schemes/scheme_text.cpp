// Splits a list of schemes at those commas that do not separate the parameters of one scheme.
#include "paceline/scheme.hpp"

namespace paceline {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_parameter(std::string_view token) {
  return token.find('=') != std::string_view::npos && token.find(':') == std::string_view::npos;
}

}  // namespace

std::vector<std::string> split_schemes(std::string_view text) {
  std::vector<std::string> schemes;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view token = trimmed(text.substr(0, comma));
    if (is_parameter(token) && !schemes.empty()) {
      schemes.back() += ",";
      schemes.back() += token;
    } else {
      schemes.emplace_back(token);
    }
    if (comma == std::string_view::npos) return schemes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace paceline
