#include "paceline/table_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>

#include "paceline/parameters.hpp"
#include "paceline/random.hpp"
#include "paceline/suggest.hpp"
#include "train/csv_cells.hpp"

namespace paceline {
namespace {

constexpr std::size_t kMostTexts = 100;     // of a column: beyond, it is a name or a free text
constexpr std::size_t kMostClasses = 1000;  // beyond, the label is a measurement

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 8> kMissing{
      "", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"};
  return std::find(kMissing.begin(), kMissing.end(), cell) != kMissing.end();
}

std::optional<double> finite(std::string_view cell) {
  const std::optional<double> number = to_number(cell);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Unexpected<Error> missing_cell(const std::string& name, int row, const std::string& column) {
  return invalid(
      fmt::format("{}: row {} under the header has no number in column '{}'; fill it in, or say "
                  "--missing mean, or --ignore {}",
                  name,
                  row + 1,
                  column,
                  column));
}

/// The different texts of a column, in order.
std::vector<std::string> texts_of(const CsvCells& table, std::span<const int> rows, int column) {
  std::map<std::string_view, int> seen;
  for (const int row : rows) ++seen[table.cell(row, column)];
  std::vector<std::string> texts;
  texts.reserve(seen.size());
  for (const auto& [text, count] : seen) texts.emplace_back(text);
  return texts;
}

/// Whether the column is for texts: some cell is neither a number nor missing.
bool holds_texts(const CsvCells& table, std::span<const int> rows, int column) {
  return std::any_of(rows.begin(), rows.end(), [&](int row) {
    const std::string_view cell = table.cell(row, column);
    return !is_missing(cell) && !finite(cell);
  });
}

Expected<TableLayout::Column> read_column(const CsvCells& table,
                                          std::span<const int> rows,
                                          int number,
                                          const std::string& name,
                                          bool fills_missing) {
  TableLayout::Column column;
  column.name = table.columns()[static_cast<std::size_t>(number)];
  if (holds_texts(table, rows, number)) {
    column.texts = texts_of(table, rows, number);
    if (column.texts.size() > kMostTexts) {
      return invalid(fmt::format(
          "{}: column '{}' has {} different texts, at most {} can become features; leave it out: "
          "--ignore {}",
          name,
          column.name,
          column.texts.size(),
          kMostTexts,
          column.name));
    }
    return column;
  }
  std::vector<double> numbers;
  for (const int row : rows) {
    const std::optional<double> number_there = finite(table.cell(row, number));
    if (number_there) {
      numbers.push_back(*number_there);
    } else if (!fills_missing) {
      return missing_cell(name, row, column.name);
    }
  }
  if (numbers.empty()) return column;
  const auto count = static_cast<double>(numbers.size());
  column.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double x : numbers) squares += (x - column.mean) * (x - column.mean);
  if (squares > 0) column.deviation = std::sqrt(squares / count);
  return column;
}

/// By size if all are numbers, else as texts.
void sort_classes(std::vector<std::string>& classes) {
  const bool numbers = std::all_of(classes.begin(), classes.end(), [](const std::string& text) {
    return finite(text).has_value();
  });
  if (!numbers) return;
  std::sort(classes.begin(), classes.end(), [](const std::string& a, const std::string& b) {
    return *finite(a) < *finite(b);
  });
}

Expected<std::vector<std::string>> read_classes(const CsvCells& table,
                                                std::span<const int> rows,
                                                int column,
                                                const std::string& name) {
  const std::string& label = table.columns()[static_cast<std::size_t>(column)];
  std::vector<std::string> classes = texts_of(table, rows, column);
  if (!classes.empty() && classes.front().empty()) {
    return invalid(fmt::format("{}: some rows have no class in column '{}'", name, label));
  }
  if (classes.size() < 2 || classes.size() > kMostClasses) {
    return invalid(fmt::format("{}: column '{}' has {} different values; a class has 2 to {}",
                               name,
                               label,
                               classes.size(),
                               kMostClasses));
  }
  sort_classes(classes);
  return classes;
}

Expected<int> column_named(const CsvCells& table,
                           const std::string& column,
                           const std::string& name) {
  const int number = table.find(column);
  if (number >= 0) return number;
  return invalid(name + ": " + unknown_name("column", column, table.columns()));
}

Expected<TableLayout> read_layout(const CsvCells& table,
                                  std::span<const int> training,
                                  const std::string& name,
                                  const TableOptions& options) {
  if (options.label.empty()) {
    return invalid(fmt::format("{}: which column is the class? --label NAME; its columns: {}",
                               name,
                               fmt::join(table.columns(), ", ")));
  }
  const auto label = column_named(table, options.label, name);
  if (!label) return Unexpected(label.error());
  std::vector<bool> used(table.columns().size(), true);
  used[static_cast<std::size_t>(*label)] = false;
  for (const std::string& ignored : options.ignored) {
    const auto column = column_named(table, ignored, name);
    if (!column) return Unexpected(column.error());
    used[static_cast<std::size_t>(*column)] = false;
  }
  TableLayout layout;
  layout.label = options.label;
  layout.fills_missing = options.fills_missing;
  // Classes are those of all rows: a rare one may be in none of the training rows.
  std::vector<int> all(static_cast<std::size_t>(table.rows()));
  std::iota(all.begin(), all.end(), 0);
  auto classes = read_classes(table, all, *label, name);
  if (!classes) return Unexpected(classes.error());
  layout.classes = *std::move(classes);
  for (std::size_t c = 0; c < used.size(); ++c) {
    if (!used[c]) continue;
    auto column = read_column(table, training, static_cast<int>(c), name, options.fills_missing);
    if (!column) return Unexpected(column.error());
    layout.columns.push_back(*std::move(column));
  }
  if (layout.columns.empty()) {
    return invalid(fmt::format("{}: no column is left to be a feature", name));
  }
  return layout;
}

/// Adds a cell's features to `out`.
Expected<void> add_features(const TableLayout& layout,
                            const TableLayout::Column& column,
                            std::string_view cell,
                            const std::string& name,
                            int row,
                            std::vector<float>& out) {
  if (!column.texts.empty()) {
    for (const std::string& text : column.texts) out.push_back(cell == text ? 1.0F : 0.0F);
    return {};
  }
  const std::optional<double> number = finite(cell);
  if (!number && !is_missing(cell)) {
    return invalid(
        fmt::format("{}: row {} under the header has '{}' in column '{}', which held "
                    "numbers in training",
                    name,
                    row + 1,
                    cell.substr(0, 40),
                    column.name));
  }
  if (!number && !layout.fills_missing) return missing_cell(name, row, column.name);
  out.push_back(number ? static_cast<float>((*number - column.mean) / column.deviation) : 0.0F);
  return {};
}

/// The rows of that table as samples.
Expected<DataSet> to_samples(const CsvCells& table,
                             std::span<const int> rows,
                             const std::string& name,
                             const TableLayout& layout) {
  DataSet data{.samples = static_cast<int>(rows.size()),
               .features = layout.features(),
               .classes = static_cast<int>(layout.classes.size()),
               .centred = true,
               .inputs = {},
               .labels = {}};
  std::vector<int> columns;
  for (const TableLayout::Column& column : layout.columns) {
    const auto number = column_named(table, column.name, name);
    if (!number) return Unexpected(number.error());
    columns.push_back(*number);
  }
  std::map<std::string_view, std::int32_t> class_numbers;
  for (std::size_t k = 0; k < layout.classes.size(); ++k) {
    class_numbers[layout.classes[k]] = static_cast<std::int32_t>(k);
  }
  const int label = table.find(layout.label);
  data.inputs.reserve(rows.size() * static_cast<std::size_t>(data.features));
  for (const int row : rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      auto added = add_features(
          layout, layout.columns[c], table.cell(row, columns[c]), name, row, data.inputs);
      if (!added) return Unexpected(added.error());
    }
    if (label < 0) continue;
    const auto found = class_numbers.find(table.cell(row, label));
    if (found == class_numbers.end()) {
      return invalid(
          fmt::format("{}: row {} under the header has class '{}', which training did "
                      "not have; it had {}",
                      name,
                      row + 1,
                      table.cell(row, label).substr(0, 40),
                      fmt::join(layout.classes, ", ")));
    }
    data.labels.push_back(found->second);
  }
  return data;
}

std::vector<int> all_rows(const CsvCells& table) {
  std::vector<int> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Expected<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return invalid(fmt::format("cannot read '{}'", path));
  return text;
}

}  // namespace

int TableLayout::features() const {
  std::size_t count = 0;
  for (const Column& column : columns) {
    count += column.texts.empty() ? std::size_t{1} : column.texts.size();
  }
  return static_cast<int>(count);
}

Expected<TableData> parse_table(std::string_view text,
                                const std::string& name,
                                const TableOptions& options,
                                std::string_view test,
                                const std::string& test_name) {
  const auto table = CsvCells::parse(text, name);
  if (!table) return Unexpected(table.error());
  std::vector<int> training = all_rows(*table);
  std::vector<int> testing;
  if (test_name.empty()) {
    if (!(options.test_share > 0 && options.test_share < 1)) {
      return invalid(
          fmt::format("--test-share {} is not allowed; above 0 and below 1", options.test_share));
    }
    training = RandomStream(options.seed, "table-rows").permutation(table->rows());
    const auto held = std::max(1L, std::lround(options.test_share * table->rows()));
    if (held >= table->rows()) {
      return invalid(fmt::format("{}: {} rows leave none to train on", name, table->rows()));
    }
    testing.assign(training.end() - held, training.end());
    training.resize(training.size() - static_cast<std::size_t>(held));
  }
  auto layout = read_layout(*table, training, name, options);
  if (!layout) return Unexpected(layout.error());
  TableData result{*std::move(layout), {}};
  auto train = to_samples(*table, training, name, result.layout);
  if (!train) return Unexpected(train.error());
  result.data.train = *std::move(train);
  auto held_out = test_name.empty() ? to_samples(*table, testing, name, result.layout)
                                    : parse_rows(test, test_name, result.layout);
  if (!held_out) return Unexpected(held_out.error());
  if (held_out->labels.empty()) {
    return invalid(fmt::format(
        "{}: no column '{}', so nothing can be tested with it", test_name, result.layout.label));
  }
  result.data.test = *std::move(held_out);
  return result;
}

Expected<TableData> read_table(const std::string& path,
                               const TableOptions& options,
                               const std::string& test) {
  const auto text = read_text(path);
  if (!text) return Unexpected(text.error());
  if (test.empty()) return parse_table(*text, path, options);
  const auto test_text = read_text(test);
  if (!test_text) return Unexpected(test_text.error());
  return parse_table(*text, path, options, *test_text, test);
}

Expected<DataSet> parse_rows(std::string_view text,
                             const std::string& name,
                             const TableLayout& layout) {
  const auto table = CsvCells::parse(text, name);
  if (!table) return Unexpected(table.error());
  return to_samples(*table, all_rows(*table), name, layout);
}

}  // namespace paceline
