#include "configuration_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

namespace paceline::app {
namespace {

using ConfigurationJson = nlohmann::ordered_json;

Expected<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  if (std::filesystem::is_directory(path)) {
    return invalid(fmt::format("{}: cannot read: it is a folder", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// The lines of a TOML file, from 1 on, that give the key a value: neither CLI11's parser nor that
/// of JSON tells lines.
std::vector<int> toml_lines(const std::string& text, const std::string& key) {
  std::vector<int> lines;
  std::istringstream input(text);
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    std::string name = CLI::detail::trim_copy(line.substr(0, line.find_first_of("=#")));
    if (CLI::detail::remove_quotes(name) == key) lines.push_back(number);
  }
  return lines;
}

std::vector<int> json_lines(const std::string& text, const std::string& key) {
  std::vector<int> lines;
  const std::string quoted = '"' + key + '"';
  for (auto at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1)) {
    const auto next = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (next == std::string::npos || text[next] != ':') continue;
    const auto here = text.begin() + static_cast<std::ptrdiff_t>(at);
    lines.push_back(1 + static_cast<int>(std::count(text.begin(), here, '\n')));
  }
  return lines;
}

/// Names the place of an entry and refuses what no option can take.
Expected<FileEntry> checked(FileEntry entry, const std::string& path, std::vector<int> lines) {
  if (lines.size() > 1) {
    return invalid(fmt::format("{}: {} is given {} times, in lines {}",
                               path,
                               entry.key,
                               lines.size(),
                               fmt::join(lines, ", ")));
  }
  entry.place = lines.empty() ? path : fmt::format("{}:{}", path, lines.front());
  const auto blank = [](const std::string& value) { return value.empty(); };
  if (entry.values.empty() || std::any_of(entry.values.begin(), entry.values.end(), blank)) {
    return invalid(fmt::format(
        "{}: {} has no value; leave the line out to keep the default", entry.place, entry.key));
  }
  return entry;
}

Expected<FileEntry> toml_entry(const CLI::ConfigItem& item,
                               const std::string& path,
                               const std::string& text) {
  if (!item.parents.empty()) {
    return invalid(fmt::format(
        "{}: section or dotted key '{}' is not known; every option stands at the top, by its name",
        path,
        fmt::join(item.parents, ".")));
  }
  return checked({item.name, item.inputs, {}}, path, toml_lines(text, item.name));
}

/// Whether every quote of a line has its end, and no # stands between quotes: for CLI11 it begins a
/// comment there, too, and what is left of the text would be taken.
bool quotes_end(const std::string& line) {
  char quote = 0;
  for (const char c : line) {
    if (c == '#') return quote == 0;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return quote == 0;
}

/// The file without comments and with each list in one line, since CLI11 reads a list only where
/// its first element stands in the line of the key.
Expected<std::string> in_whole_lines(const std::string& path, const std::string& text) {
  std::istringstream input(text);
  std::string line;
  std::string whole;
  int list_begins = 0;  // the line of a list without an end so far
  for (int number = 1; std::getline(input, line); ++number) {
    if (!quotes_end(line)) {
      return invalid(fmt::format(
          "{}:{}: a text has no end; a # begins a comment, between quotes too", path, number));
    }
    line = CLI::detail::trim_copy(line.substr(0, line.find('#')));
    const auto value = line.find_first_not_of(" \t", line.find('=') + 1);
    const bool begins = list_begins == 0 && line.find('=') != std::string::npos &&
                        value != std::string::npos && line[value] == '[';
    if (begins) list_begins = number;
    if (line.ends_with(']')) list_begins = 0;
    whole += line;
    if (list_begins == 0) whole += '\n';
  }
  if (list_begins == 0) return whole;
  return invalid(fmt::format("{}:{}: the list that begins here has no end", path, list_begins));
}

Expected<std::vector<FileEntry>> read_toml(const std::string& path, const std::string& text) {
  const auto whole = in_whole_lines(path, text);
  if (!whole) return Unexpected(whole.error());
  std::istringstream input(*whole);
  std::vector<FileEntry> entries;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(input)) {
    auto entry = toml_entry(item, path, text);
    if (!entry) return Unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  return entries;
}

bool is_plain(const ConfigurationJson& value) {
  return value.is_string() || value.is_number() || value.is_boolean();
}

std::string plain_text(const ConfigurationJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Expected<FileEntry> json_entry(const std::string& key,
                               const ConfigurationJson& value,
                               const std::string& path,
                               const std::string& text) {
  FileEntry entry{key, {}, {}};
  const bool list = value.is_array() && std::all_of(value.begin(), value.end(), is_plain);
  if (list) {
    for (const ConfigurationJson& element : value) entry.values.push_back(plain_text(element));
  } else {
    // A value of the wrong kind still gets its place.
    entry.values.push_back(is_plain(value) ? plain_text(value) : value.dump());
  }
  auto good = checked(std::move(entry), path, json_lines(text, key));
  if (!good || list || is_plain(value)) return good;
  return invalid(fmt::format(
      "{}: {} = {} is not allowed; a number, a text, true, false or a list of them is expected",
      good->place,
      key,
      good->values.front()));
}

/// The parser's own words without its number of the error.
std::string json_complaint(const ConfigurationJson::exception& error) {
  const std::string what = error.what();
  const auto begin = what.find("] ");
  return begin == std::string::npos ? what : what.substr(begin + 2);
}

Expected<std::vector<FileEntry>> read_json(const std::string& path, const std::string& text) {
  ConfigurationJson all;
  try {
    all = ConfigurationJson::parse(text);
  } catch (const ConfigurationJson::exception& error) {
    return invalid(fmt::format("{}: {}", path, json_complaint(error)));
  }
  std::vector<FileEntry> entries;
  for (const auto& [key, value] : all.items()) {
    auto entry = json_entry(key, value, path, text);
    if (!entry) return Unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace

Expected<std::vector<FileEntry>> read_configuration_file(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return Unexpected(text.error());
  const auto first = text->find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (*text)[first] == '{';
  return json ? read_json(path, *text) : read_toml(path, *text);
}

}  // namespace paceline::app
