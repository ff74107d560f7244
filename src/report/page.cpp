#include "report/page.hpp"

#include <fmt/format.h>

#include "paceline/check.hpp"

namespace paceline {

std::string filled(std::string_view page,
                   const std::map<std::string, std::string, std::less<>>& places) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    PACELINE_CHECK(close != std::string_view::npos);
    const auto place = places.find(page.substr(open + 2, close - open - 2));
    PACELINE_CHECK(place != places.end());
    out += place->second;
    page.remove_prefix(close + 2);
  }
}

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string fact(std::string_view name, std::string_view value, bool code) {
  if (value.empty()) return {};
  const std::string text = escape(value);
  return fmt::format(
      "<dt>{}</dt><dd>{}</dd>\n", name, code ? fmt::format("<code>{}</code>", text) : text);
}

}  // namespace paceline
