// One pass over the lines. Comment lines give the header; it is compared with the table once the
// whole table is there, so that it may stand anywhere. The first thing that is wrong ends the pass.
#include "delays/wide_csv.hpp"

#include <fmt/format.h>

#include <utility>

#include "delays/csv_text.hpp"

namespace paceline {
namespace {

Expected<void> add_row(std::string_view line, const Lines& lines, DelayProfile& profile) {
  int column = 0;
  for (bool more = true; more;) {
    ++column;
    const std::size_t comma = line.find(',');
    more = comma != std::string_view::npos;
    const std::string_view cell = trimmed(line.substr(0, comma));
    if (more) line.remove_prefix(comma + 1);
    if (profile.rounds > 0 && column > profile.workers) {
      return lines.wrong_cell(
          column, fmt::format("one cell more than the {} of the rows before", profile.workers));
    }
    const auto value = lines.time(cell, column);
    if (!value) return Unexpected(value.error());
    profile.seconds.push_back(*value);
  }
  if (profile.rounds > 0 && column < profile.workers) {
    return lines.wrong_cell(
        column + 1,
        fmt::format(
            "the row ends after {} cells, the rows before have {}", column, profile.workers));
  }
  profile.workers = column;
  ++profile.rounds;
  return {};
}

}  // namespace

Expected<DelayProfile> parse_wide_csv(std::string_view text, const std::string& name) {
  Lines lines(text, name);
  ProfileHeader header;
  DelayProfile profile;
  while (!lines.done()) {
    const std::string_view line = lines.next();
    Expected<void> ok;
    if (line.starts_with('#')) {
      ok = header.read(line.substr(1), lines);
    } else if (trimmed(line).empty()) {
      if (!lines.only_blanks_left()) ok = lines.wrong("an empty line", "one line per round");
    } else {
      ok = add_row(line, lines, profile);
    }
    if (!ok) return Unexpected(ok.error());
  }
  if (profile.rounds == 0) {
    return invalid(
        fmt::format("{}: no rounds; allowed: one line per round, one column per worker", name));
  }
  if (auto ok = header.apply_to(profile, name); !ok) return Unexpected(ok.error());
  return profile;
}

std::string to_wide_csv(const DelayProfile& profile, std::string_view comment) {
  std::string text = comment.empty() ? std::string() : fmt::format("# {}\n", comment);
  text += fmt::format(
      "# workers={} rounds={} load={}\n", profile.workers, profile.rounds, profile.load);
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < profile.workers; ++i) {
      text += fmt::format("{}{:.9g}", i == 0 ? "" : ",", profile.at(r, i));
    }
    text += '\n';
  }
  return text;
}

}  // namespace paceline
