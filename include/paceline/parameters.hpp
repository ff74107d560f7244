// Text of the form "name:key=value,key=value", which names schemes, close policies, delay models
// and optimizers: one parser, typed getters with ranges, and errors that name the value, what is
// allowed and the nearest right key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

/// Reads parameters; collects the first error, so that a factory reads everything and checks once
/// at the end.
///
///     auto parsed = ParameterText::parse("gc:s=3");        // an error if it has no such form
///     const int s = parsed->integer("s", 0, n - 1);        // required
///     const double mu = parsed->number("mu", 0, 10, 1.0);  // optional, 1 if absent
///     if (auto ok = parsed->finish(); !ok) return ...;     // the first error, or an unknown key
class ParameterText {
 public:
  static Expected<ParameterText> parse(std::string_view text);

  const std::string& name() const { return name_; }

  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }

  /// An integer in [low, high]; `fallback` where the key is absent (an error if there is none).
  int integer(std::string_view key, int low, int high, std::optional<int> fallback = {});
  /// A finite number in [low, high].
  double number(std::string_view key, double low, double high, std::optional<double> fallback = {});
  /// One of `allowed`.
  std::string word(std::string_view key,
                   std::span<const std::string> allowed,
                   const std::string& fallback);
  /// Any text.
  std::string text(std::string_view key, const std::string& fallback);

  /// Notes an error of the caller's own checks (the first one is kept).
  void fail(std::string message);

  bool ok() const { return error_.empty(); }

  /// The first error, or one for a key that nobody asked for, which names the nearest key asked
  /// for.
  Expected<void> finish() const;

 private:
  const std::string* take(std::string_view key, bool required, std::string_view allowed);

  std::string text_;
  std::string name_;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> asked_;
  std::string error_;
};

/// A whole text as a number: no blanks, no rest. Nothing if it is none.
std::optional<double> to_number(std::string_view text);

}  // namespace paceline
