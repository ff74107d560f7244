#include "delays/csv_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

#include "paceline/parameters.hpp"

namespace paceline {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("'{}{}'", shown, text.size() > longest ? "..." : "");
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (bool more = true; more;) {
    const std::size_t comma = line.find(',');
    more = comma != std::string_view::npos;
    cells.push_back(trimmed(line.substr(0, comma)));
    if (more) line.remove_prefix(comma + 1);
  }
  return cells;
}

std::string_view Lines::next() {
  ++number_;
  const std::size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool Lines::only_blanks_left() const {
  return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Unexpected<Error> Lines::wrong(std::string_view what, std::string_view allowed) const {
  return invalid(fmt::format("{}: line {}: {}; allowed: {}", name_, number_, what, allowed));
}

Unexpected<Error> Lines::wrong_cell(int column, std::string_view what) const {
  return invalid(fmt::format(
      "{}: line {}, column {}: {}; allowed: one response time per worker, in seconds, > 0",
      name_,
      number_,
      column,
      what));
}

Expected<double> Lines::time(std::string_view cell, int column) const {
  if (cell.empty()) return wrong_cell(column, "a missing cell");
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) {
    return wrong_cell(column, fmt::format("{} is not a number", in_quotes(cell)));
  }
  if (error != std::errc() || !std::isfinite(value) || value <= 0) {
    return wrong_cell(column, fmt::format("{} is not a time", in_quotes(cell)));
  }
  return value;
}

/// Words of the form key=value; keys that are not ours describe the measurement for people.
Expected<void> ProfileHeader::read(std::string_view comment, const Lines& lines) {
  while (!comment.empty()) {
    const std::size_t first = comment.find_first_not_of(" \t");
    if (first == std::string_view::npos) break;
    comment.remove_prefix(first);
    const std::string_view word = comment.substr(0, comment.find_first_of(" \t"));
    comment.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    if (auto ok = set(word.substr(0, equals), word.substr(equals + 1), lines); !ok) return ok;
  }
  return {};
}

Expected<void> ProfileHeader::set(std::string_view key, std::string_view text, const Lines& lines) {
  const bool is_load = key == "load";
  if (!is_load && key != "workers" && key != "rounds") return {};
  const std::optional<double> value = to_number(text);
  const bool count_ok = value && *value >= 1 && *value <= 1e9 && *value == std::floor(*value);
  const bool load_ok = value && *value >= 0 && *value <= 1;
  if (is_load ? !load_ok : !count_ok) {
    return lines.wrong(fmt::format("{}={}", key, in_quotes(text)),
                       is_load ? "a number, 0 <= load <= 1" : "an integer >= 1");
  }
  std::optional<double>& known = is_load ? load_ : key == "workers" ? workers_ : rounds_;
  if (known && *known != *value) {
    return lines.wrong(fmt::format("{}={}, but {}={} before", key, *value, key, *known),
                       "one value per key");
  }
  known = value;
  return {};
}

Expected<void> ProfileHeader::apply_to(DelayProfile& profile, const std::string& name) const {
  if (workers_ && *workers_ != profile.workers) {
    return invalid(fmt::format("{}: the header says workers={}, the table has {} columns",
                               name,
                               *workers_,
                               profile.workers));
  }
  if (rounds_ && *rounds_ != profile.rounds) {
    return invalid(fmt::format(
        "{}: the header says rounds={}, the table has {} rows", name, *rounds_, profile.rounds));
  }
  profile.load = load_.value_or(0);
  return {};
}

}  // namespace paceline
