#include "codes/number_list.hpp"

#include <fmt/format.h>

#include <string>

namespace paceline {

std::vector<double> read_numbers(ParameterText& parameters,
                                 std::string_view key,
                                 int workers,
                                 double low,
                                 double high,
                                 double fallback) {
  const auto n = static_cast<std::size_t>(workers);
  if (!parameters.has(key)) {
    static_cast<void>(parameters.text(key, ""));  // a known key, so that misspellings find it
    return std::vector<double>(n, fallback);
  }
  const std::string text = parameters.text(key, "");
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    const std::optional<double> number = to_number(std::string_view(text).substr(at, slash - at));
    if (!number || !(*number >= low && *number <= high)) {
      parameters.fail(
          fmt::format("{}={}: '{}' is not allowed; numbers from {} to {}, separated by "
                      "'/'",
                      key,
                      text,
                      text.substr(at, slash - at),
                      low,
                      high));
      return std::vector<double>(n, fallback);
    }
    numbers.push_back(*number);
    at = slash + 1;
  }
  if (numbers.size() == 1) return std::vector<double>(n, numbers.front());
  if (numbers.size() != n) {
    parameters.fail(fmt::format(
        "{}= gives {} numbers for {} workers; allowed: 1 or {}", key, numbers.size(), n, n));
    return std::vector<double>(n, fallback);
  }
  return numbers;
}

}  // namespace paceline
