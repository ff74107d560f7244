#include "train/csv_cells.hpp"

#include <csv.h>
#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <set>

#include "paceline/check.hpp"

namespace paceline {
namespace {

/// What libcsv's callbacks fill.
struct Reading {
  std::string text;
  std::vector<std::size_t> begins{0};  ///< of the cells, and the end of the last
  std::size_t columns = 0;             ///< of the header
  std::size_t in_row = 0;
  std::size_t rows = 0;  ///< with the header
  std::size_t bad_row = 0;
  std::size_t bad_cells = 0;
};

void on_cell(void* cell, std::size_t size, void* user) {
  auto& reading = *static_cast<Reading*>(user);
  reading.text.append(static_cast<const char*>(cell), size);
  reading.begins.push_back(reading.text.size());
  ++reading.in_row;
}

void on_row(int, void* user) {
  auto& reading = *static_cast<Reading*>(user);
  if (reading.rows == 0) reading.columns = reading.in_row;
  if (reading.in_row != reading.columns && reading.bad_row == 0) {
    reading.bad_row = reading.rows;
    reading.bad_cells = reading.in_row;
  }
  ++reading.rows;
  reading.in_row = 0;
}

class Parser {
 public:
  explicit Parser(char separator) {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(&parser_, static_cast<unsigned char>(separator));
  }

  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  ~Parser() { csv_free(&parser_); }

  bool read(std::string_view text, Reading& reading) {
    return csv_parse(&parser_, text.data(), text.size(), on_cell, on_row, &reading) ==
               text.size() &&
           csv_fini(&parser_, on_cell, on_row, &reading) == 0;
  }

  std::string problem() { return csv_strerror(csv_error(&parser_)); }

 private:
  csv_parser parser_{};
};

char separator_of(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  for (const char candidate : {',', ';', '\t'}) {
    if (header.find(candidate) != std::string_view::npos) return candidate;
  }
  return ',';
}

/// Bytes of `text` before the first that is no UTF-8; all of them if it is. By the C library's
/// iconv.
std::size_t valid_utf8(std::string_view text) {
  const iconv_t to_wide = iconv_open("UCS-4LE", "UTF-8");
  PACELINE_CHECK(to_wide != reinterpret_cast<iconv_t>(-1));
  std::array<char, 4096> sink;
  char* in = const_cast<char*>(text.data());  // iconv only reads it
  std::size_t left = text.size();
  while (left > 0) {
    char* out = sink.data();
    std::size_t room = sink.size();
    if (iconv(to_wide, &in, &left, &out, &room) == static_cast<std::size_t>(-1) && errno != E2BIG)
      break;
  }
  iconv_close(to_wide);
  return text.size() - left;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Expected<CsvCells> CsvCells::parse(std::string_view text, const std::string& name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t valid = valid_utf8(text); valid < text.size()) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(valid), '\n');
    return invalid(
        fmt::format("{}: line {} is not UTF-8; iconv -f latin1 -t utf-8 converts most older files",
                    name,
                    line));
  }
  Reading reading;
  reading.text.reserve(text.size());
  Parser parser(separator_of(text));
  if (!parser.read(text, reading)) {
    return invalid(fmt::format(
        "{}: after row {}: {}; a cell with quotes in it is written \"so \"\"quoted\"\"\"",
        name,
        reading.rows > 0 ? reading.rows - 1 : 0,
        parser.problem()));
  }
  if (reading.bad_row > 0) {
    return invalid(fmt::format("{}: row {} under the header has {} cells; the header has {}",
                               name,
                               reading.bad_row,
                               reading.bad_cells,
                               reading.columns));
  }
  if (reading.rows < 2) {
    return invalid(fmt::format("{}: {}; a header and a row per sample are needed",
                               name,
                               reading.rows == 0 ? "it is empty" : "no row follows the header"));
  }
  if (reading.rows > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return invalid(fmt::format("{}: {} rows are too many", name, reading.rows));
  }

  CsvCells table;
  std::set<std::string> seen;
  for (std::size_t c = 0; c < reading.columns; ++c) {
    std::string column =
        reading.text.substr(reading.begins[c], reading.begins[c + 1] - reading.begins[c]);
    if (column.empty()) {
      return invalid(fmt::format("{}: column {} has no name in the header", name, c + 1));
    }
    if (!seen.insert(column).second) {
      return invalid(fmt::format("{}: two columns are named '{}'", name, column));
    }
    table.columns_.push_back(std::move(column));
  }
  table.rows_ = static_cast<int>(reading.rows - 1);
  const auto header = static_cast<std::ptrdiff_t>(reading.columns);
  table.text_ = std::move(reading.text);
  table.begins_.assign(reading.begins.begin() + header, reading.begins.end());
  return table;
}

int CsvCells::find(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

}  // namespace paceline
