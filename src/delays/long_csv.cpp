#include "delays/long_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "delays/csv_text.hpp"
#include "delays/sample_table.hpp"
#include "paceline/parameters.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

// The usual names, the surest first: "time" is a time of day where a duration stands beside it.
constexpr std::array<std::string_view, 4> kRoundNames = {"round", "step", "iteration", "iter"};
constexpr std::array<std::string_view, 5> kWorkerNames = {
    "worker", "worker_id", "rank", "node", "host"};
constexpr std::array<std::string_view, 7> kSecondsNames = {
    "seconds", "duration", "response_time", "latency", "batch_time", "batch_time_norm", "time"};

using Cells = std::vector<std::string_view>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t index_of(const Cells& cells, std::string_view name) {
  const auto found = std::find(cells.begin(), cells.end(), name);
  return found == cells.end() ? kNone : static_cast<std::size_t>(found - cells.begin());
}

/// Finds a column by its given name, or by the first usual name there is.
/// @return its index; kNone if no name was given and none is there
template <std::size_t size>
Expected<std::size_t> find_column(const Cells& header,
                                  std::string_view key,
                                  const std::string& given,
                                  const std::array<std::string_view, size>& usual,
                                  const Lines& lines) {
  if (!given.empty()) {
    const std::size_t at = index_of(header, given);
    if (at != kNone) return at;
    std::vector<std::string> known;
    for (const std::string_view name : header) {
      if (!name.empty()) known.emplace_back(name);
    }
    const std::string near = nearest_name(given, known);
    return lines.wrong(fmt::format("no column {} for {}=", in_quotes(given), key),
                       near.empty() ? "a name of the header line"
                                    : fmt::format("did you mean {}?", in_quotes(near)));
  }
  for (const std::string_view name : usual) {
    const std::size_t at = index_of(header, name);
    if (at != kNone) return at;
  }
  return kNone;
}

template <std::size_t size>
Unexpected<Error> no_column(std::string_view key,
                            const std::array<std::string_view, size>& usual,
                            const Lines& lines) {
  return lines.wrong(fmt::format("no column for the {}", key),
                     fmt::format("a column named {}, or --columns {}=NAME",
                                 fmt::join(usual.begin(), usual.end(), ", "),
                                 key));
}

struct Columns {
  std::size_t round, worker, seconds, count;
};

Expected<Columns> find_columns(const Cells& header, const ColumnNames& names, const Lines& lines) {
  const auto round = find_column(header, "round", names.round, kRoundNames, lines);
  if (!round) return Unexpected(round.error());
  const auto worker = find_column(header, "worker", names.worker, kWorkerNames, lines);
  if (!worker) return Unexpected(worker.error());
  if (*worker == kNone) return no_column("worker", kWorkerNames, lines);
  const auto seconds = find_column(header, "seconds", names.seconds, kSecondsNames, lines);
  if (!seconds) return Unexpected(seconds.error());
  if (*seconds == kNone) return no_column("seconds", kSecondsNames, lines);
  return Columns{*round, *worker, *seconds, header.size()};
}

Expected<Sample> sample_of(const Cells& cells, const Columns& columns, const Lines& lines) {
  if (cells.size() != columns.count) {
    return lines.wrong(fmt::format("{} cells, the header has {}", cells.size(), columns.count),
                       "one cell per column");
  }
  const auto seconds = lines.time(cells[columns.seconds], static_cast<int>(columns.seconds) + 1);
  if (!seconds) return Unexpected(seconds.error());
  Sample sample;
  sample.seconds = *seconds;
  sample.line = lines.number();
  sample.worker = cells[columns.worker];
  if (columns.round != kNone) sample.round = cells[columns.round];
  if (sample.worker.empty() || (columns.round != kNone && sample.round.empty())) {
    const std::size_t at = sample.worker.empty() ? columns.worker : columns.round;
    return lines.wrong(fmt::format("column {}: a missing cell", at + 1),
                       "a worker and a round on every line");
  }
  return sample;
}

}  // namespace

bool names_columns(std::string_view line) {
  const Cells cells = cells_of(line);
  return cells.size() >= 2 &&
         std::all_of(cells.begin(),
                     cells.end(),
                     [](std::string_view cell) {
                       if (cell.empty()) return true;
                       const auto first = static_cast<unsigned char>(cell.front());
                       return (std::isalpha(first) != 0 || first == '_') && !to_number(cell);
                     }) &&
         !std::all_of(cells.begin(), cells.end(), [](auto cell) { return cell.empty(); });
}

Expected<DelayProfile> parse_long_csv(std::string_view text,
                                      const std::string& name,
                                      const ColumnNames& names) {
  Lines lines(text, name);
  ProfileHeader header;
  std::optional<Columns> columns;
  std::vector<Sample> samples;
  while (!lines.done()) {
    const std::string_view line = lines.next();
    if (line.starts_with('#')) {
      if (auto ok = header.read(line.substr(1), lines); !ok) return Unexpected(ok.error());
    } else if (trimmed(line).empty()) {
      continue;
    } else if (!columns) {
      const auto found = find_columns(cells_of(line), names, lines);
      if (!found) return Unexpected(found.error());
      columns = *found;
    } else {
      auto sample = sample_of(cells_of(line), *columns, lines);
      if (!sample) return Unexpected(sample.error());
      samples.push_back(std::move(*sample));
    }
  }
  auto profile = table_of(samples, name);
  if (!profile) return profile;
  if (auto ok = header.apply_to(*profile, name); !ok) return Unexpected(ok.error());
  return profile;
}

}  // namespace paceline
