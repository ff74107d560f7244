// Reads delay profiles: wide CSV, one line per round, one column per worker, seconds.
//
// One pass over the bytes: lines are cut at '\n' (a '\r' before it is left out), cells at ','.
// Comment lines give the header; it is compared with the table once the whole table is there, so
// that it may stand anywhere. The first thing that is wrong ends the pass.
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "delays/failed_calls.hpp"
#include "paceline/check.hpp"
#include "paceline/delays.hpp"
#include "paceline/parameters.hpp"

namespace paceline {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A piece of the input for an error message: one line, printable, not too long.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("'{}{}'", shown, text.size() > longest ? "..." : "");
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Expected<DelayProfile> read() {
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      Expected<void> ok;
      if (line.starts_with('#')) {
        ok = comment(line.substr(1));
      } else if (trimmed(line).empty()) {
        if (!trimmed_lines_empty()) ok = wrong("an empty line", "one line per round");
      } else {
        ok = row(line);
      }
      if (!ok) return Unexpected(ok.error());
    }
    if (auto ok = compare_with_header(); !ok) return Unexpected(ok.error());
    return std::move(profile_);
  }

 private:
  std::string_view next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  bool trimmed_lines_empty() const {
    return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos;
  }

  Unexpected<Error> wrong(std::string_view what, std::string_view allowed) const {
    return invalid(fmt::format("{}: line {}: {}; allowed: {}", name_, line_, what, allowed));
  }

  Unexpected<Error> wrong_cell(int column, std::string_view what) const {
    return invalid(fmt::format(
        "{}: line {}, column {}: {}; allowed: one response time per worker, in seconds, > 0",
        name_,
        line_,
        column,
        what));
  }

  /// Words of the form key=value; keys that are not ours describe the measurement for people.
  Expected<void> comment(std::string_view line) {
    while (!line.empty()) {
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos) break;
      line.remove_prefix(first);
      const std::string_view word = line.substr(0, line.find_first_of(" \t"));
      line.remove_prefix(word.size());
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      if (auto ok = header(word.substr(0, equals), word.substr(equals + 1)); !ok) return ok;
    }
    return {};
  }

  Expected<void> header(std::string_view key, std::string_view text) {
    const bool is_load = key == "load";
    if (!is_load && key != "workers" && key != "rounds") return {};
    const std::optional<double> value = to_number(text);
    const bool count_ok = value && *value >= 1 && *value <= 1e9 && *value == std::floor(*value);
    const bool load_ok = value && *value >= 0 && *value <= 1;
    if (is_load ? !load_ok : !count_ok) {
      return wrong(fmt::format("{}={}", key, quoted(text)),
                   is_load ? "a number, 0 <= load <= 1" : "an integer >= 1");
    }
    std::optional<double>& known = is_load ? load_ : key == "workers" ? workers_ : rounds_;
    if (known && *known != *value) {
      return wrong(fmt::format("{}={}, but {}={} before", key, *value, key, *known),
                   "one value per key");
    }
    known = value;
    return {};
  }

  Expected<void> row(std::string_view line) {
    int column = 0;
    for (bool more = true; more;) {
      ++column;
      const std::size_t comma = line.find(',');
      more = comma != std::string_view::npos;
      const std::string_view cell = trimmed(line.substr(0, comma));
      if (more) line.remove_prefix(comma + 1);
      if (profile_.rounds > 0 && column > profile_.workers) {
        return wrong_cell(
            column, fmt::format("one cell more than the {} of the rows before", profile_.workers));
      }
      if (auto ok = add_cell(cell, column); !ok) return ok;
    }
    if (profile_.rounds > 0 && column < profile_.workers) {
      return wrong_cell(
          column + 1,
          fmt::format(
              "the row ends after {} cells, the rows before have {}", column, profile_.workers));
    }
    profile_.workers = column;
    ++profile_.rounds;
    return {};
  }

  Expected<void> add_cell(std::string_view cell, int column) {
    if (cell.empty()) return wrong_cell(column, "a missing cell");
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) {
      return wrong_cell(column, fmt::format("{} is not a number", quoted(cell)));
    }
    if (error != std::errc() || !std::isfinite(value) || value <= 0) {
      return wrong_cell(column, fmt::format("{} is not a time", quoted(cell)));
    }
    profile_.seconds.push_back(value);
    return {};
  }

  Expected<void> compare_with_header() {
    if (profile_.rounds == 0) {
      return invalid(
          fmt::format("{}: no rounds; allowed: one line per round, one column per worker", name_));
    }
    if (workers_ && *workers_ != profile_.workers) {
      return invalid(fmt::format("{}: the header says workers={}, the rows have {} columns",
                                 name_,
                                 *workers_,
                                 profile_.workers));
    }
    if (rounds_ && *rounds_ != profile_.rounds) {
      return invalid(fmt::format(
          "{}: the header says rounds={}, the file has {} rows", name_, *rounds_, profile_.rounds));
    }
    profile_.load = load_.value_or(0);
    return {};
  }

  std::string_view rest_;
  const std::string& name_;
  int line_ = 0;
  std::optional<double> load_;
  std::optional<double> workers_;
  std::optional<double> rounds_;
  DelayProfile profile_;
};

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

}  // namespace

Expected<DelayProfile> parse_delay_profile(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

Expected<DelayProfile> read_delay_profile(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Unexpected(text.error());
  auto profile = parse_delay_profile(*text, path);
  if (!profile) return profile;

  std::vector<DelayProfile> siblings;
  for (const std::string& sibling : profiles_of_the_same_run(path)) {
    const auto other = read_file(sibling);
    if (!other) continue;  // a sibling is only evidence: one that cannot be read says nothing
    if (auto parsed = parse_delay_profile(*other, sibling)) siblings.push_back(std::move(*parsed));
  }
  if (auto ok = check_calls_succeeded(*profile, path, siblings); !ok) return Unexpected(ok.error());
  return profile;
}

DelayProfile first_workers(const DelayProfile& profile, int workers) {
  PACELINE_CHECK(workers >= 1 && workers <= profile.workers);
  DelayProfile part{
      .rounds = profile.rounds, .workers = workers, .load = profile.load, .seconds = {}};
  part.seconds.reserve(static_cast<std::size_t>(part.rounds) * static_cast<std::size_t>(workers));
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < workers; ++i) part.seconds.push_back(profile.at(r, i));
  }
  return part;
}

}  // namespace paceline
