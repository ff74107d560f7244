#include "paceline/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "paceline/suggest.hpp"

namespace paceline {
namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> to_number(std::string_view text) { return parse_whole<double>(text); }

Expected<ParameterText> ParameterText::parse(std::string_view text) {
  ParameterText parsed;
  parsed.text_ = text;
  const std::size_t colon = text.find(':');
  parsed.name_ = text.substr(0, colon);
  if (parsed.name_.empty()) {
    return invalid(
        fmt::format("'{}' has no name; expected name or name:key=value,key=value", text));
  }
  bool more = colon != std::string_view::npos;
  std::string_view rest = more ? text.substr(colon + 1) : "";
  while (more) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
      return invalid(fmt::format("'{}' in '{}' is not of the form key=value", item, text));
    }
    const std::string key(item.substr(0, equals));
    if (!parsed.values_.emplace(key, item.substr(equals + 1)).second) {
      return invalid(fmt::format("'{}' gives {} twice", text, key));
    }
  }
  return parsed;
}

void ParameterText::fail(std::string message) {
  if (error_.empty()) error_ = fmt::format("{}: {}", text_, std::move(message));
}

const std::string* ParameterText::take(std::string_view key,
                                       bool required,
                                       std::string_view allowed) {
  asked_.emplace_back(key);
  const auto found = values_.find(key);
  if (found != values_.end()) return &found->second;
  if (required) fail(fmt::format("needs {}= ({})", key, allowed));
  return nullptr;
}

int ParameterText::integer(std::string_view key, int low, int high, std::optional<int> fallback) {
  const std::string allowed = fmt::format("an integer, {} <= {} <= {}", low, key, high);
  const std::string* text = take(key, !fallback, allowed);
  if (text == nullptr) return fallback.value_or(low);
  const std::optional<int> value = parse_whole<int>(*text);
  if (!value || *value < low || *value > high) {
    fail(fmt::format("{}={} is not allowed; {}", key, *text, allowed));
    return low;
  }
  return *value;
}

double ParameterText::number(std::string_view key,
                             double low,
                             double high,
                             std::optional<double> fallback) {
  const std::string allowed = std::isinf(high)
                                  ? fmt::format("a number, {} >= {}", key, low)
                                  : fmt::format("a number, {} <= {} <= {}", low, key, high);
  const std::string* text = take(key, !fallback, allowed);
  if (text == nullptr) return fallback.value_or(low);
  const std::optional<double> value = to_number(*text);
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    fail(fmt::format("{}={} is not allowed; {}", key, *text, allowed));
    return low;
  }
  return *value;
}

std::string ParameterText::word(std::string_view key,
                                std::span<const std::string> allowed,
                                const std::string& fallback) {
  const std::string* text = take(key, false, "");
  if (text == nullptr) return fallback;
  for (const std::string& choice : allowed) {
    if (*text == choice) return choice;
  }
  fail(unknown_name(key, *text, allowed));
  return fallback;
}

std::string ParameterText::text(std::string_view key, const std::string& fallback) {
  const std::string* text = take(key, false, "");
  return text == nullptr ? fallback : *text;
}

Expected<void> ParameterText::finish() const {
  // Unknown keys come first: a mistyped key also makes the right one missing.
  for (const auto& [key, value] : values_) {
    bool asked = false;
    for (const std::string& known : asked_) asked = asked || known == key;
    if (asked) continue;
    if (asked_.empty()) {
      return invalid(
          fmt::format("{}: unknown parameter '{}'; {} takes no parameters", text_, key, name_));
    }
    return invalid(fmt::format("{}: {}", text_, unknown_name("parameter", key, asked_)));
  }
  if (!error_.empty()) return invalid(error_);
  return {};
}

}  // namespace paceline
