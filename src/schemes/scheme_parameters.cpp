#include "schemes/scheme_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "paceline/suggest.hpp"

namespace paceline {
namespace {

/// The whole text as a number, or nothing.
template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "between 0 and 15", or "at least 0" where there is no upper limit.
template <class Range>
std::string allowed(const Range& range) {
  const bool open = range.high == std::numeric_limits<decltype(range.high)>::max();
  return open ? fmt::format("at least {}", range.low)
              : fmt::format("between {} and {}", range.low, range.high);
}

}  // namespace

SchemeParameters::SchemeParameters(std::string scheme,
                                   std::vector<std::string> known,
                                   std::vector<std::pair<std::string, std::string>> given)
    : scheme_(std::move(scheme)), known_(std::move(known)), given_(std::move(given)) {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const std::string& name = given_[i].first;
    if (std::ranges::find(known_, name) == known_.end()) {
      fail(known_.empty() ? fmt::format("unknown parameter '{}'; it has none", name)
                          : unknown_name("parameter", name, known_));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (given_[j].first == name) fail(fmt::format("'{}' is given twice", name));
    }
  }
}

const std::string* SchemeParameters::find(std::string_view name) const {
  PACELINE_CHECK(std::ranges::find(known_, name) != known_.end());
  for (const auto& [given, value] : given_) {
    if (given == name) return &value;
  }
  return nullptr;
}

bool SchemeParameters::has(std::string_view name) const { return find(name) != nullptr; }

int SchemeParameters::integer(std::string_view name, const IntegerRange& range) {
  const std::string* text = find(name);
  if (text == nullptr) {
    if (!range.otherwise) {
      fail(fmt::format("'{}' is missing; give a whole number {}", name, allowed(range)));
    }
    return range.otherwise.value_or(range.low);
  }
  const std::optional<long long> value = parse<long long>(*text);
  if (!value) {
    fail(fmt::format("{}={}: not a whole number; allowed: {}", name, *text, allowed(range)));
    return range.low;
  }
  if (*value < range.low || *value > range.high) {
    const int nearest = *value < range.low ? range.low : range.high;
    fail(fmt::format(
        "{}={}: must be {}; the nearest is {}={}", name, *text, allowed(range), name, nearest));
    return nearest;
  }
  return static_cast<int>(*value);
}

double SchemeParameters::real(std::string_view name, const RealRange& range) {
  const std::string* text = find(name);
  if (text == nullptr) {
    if (!range.otherwise) {
      fail(fmt::format("'{}' is missing; give a number {}", name, allowed(range)));
    }
    return range.otherwise.value_or(range.low);
  }
  const std::optional<double> value = parse<double>(*text);
  if (!value || !std::isfinite(*value)) {
    fail(fmt::format("{}={}: not a finite number; allowed: {}", name, *text, allowed(range)));
    return range.low;
  }
  if (*value < range.low || *value > range.high) {
    const double nearest = *value < range.low ? range.low : range.high;
    fail(fmt::format(
        "{}={}: must be {}; the nearest is {}={}", name, *text, allowed(range), name, nearest));
    return nearest;
  }
  return *value;
}

std::string SchemeParameters::choice(std::string_view name,
                                     const std::vector<std::string>& allowed,
                                     const std::string& otherwise) {
  const std::string* text = find(name);
  if (text == nullptr) return otherwise;
  if (std::ranges::find(allowed, *text) == allowed.end()) {
    fail(unknown_name(fmt::format("{}", name), *text, allowed));
    return otherwise;
  }
  return *text;
}

void SchemeParameters::fail(const std::string& message) {
  if (!error_) error_ = Error{ErrorCode::kInvalid, scheme_ + ": " + message};
}

Expected<void> SchemeParameters::check() const {
  if (error_) return Unexpected<Error>(*error_);
  return {};
}

}  // namespace paceline
