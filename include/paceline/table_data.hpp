// Training data from a table: a CSV file with a header, one row per sample, one column of which is
// the class. The layout says how cells become features, so that later rows, of a trained model's
// inputs, are read the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/data_set.hpp"
#include "paceline/expected.hpp"

namespace paceline {

struct TableOptions {
  std::string label;                      ///< column with the class
  std::vector<std::string> ignored = {};  ///< columns that are no features
  bool fills_missing = false;  ///< an empty number becomes the column's mean, else an error
  double test_share = 0.2;     ///< of the rows, drawn by `seed`, if there is no test table
  std::uint64_t seed = 1;
};

/// How the cells of a row become features, each about as large as the others.
struct TableLayout {
  struct Column {
    std::string name;
    /// The texts that the column had in training, each of which is a feature: 1 where the cell has
    /// it, else 0. Empty: the column holds numbers, and its feature is (cell - mean) / deviation.
    std::vector<std::string> texts;
    double mean = 0;       ///< of the training rows
    double deviation = 1;  ///< likewise; a column with one number only has 1
  };

  std::string label;
  std::vector<std::string> classes;  ///< what the label column said; numbers in order of size
  std::vector<Column> columns;       ///< that are features, in the order of the training table
  bool fills_missing = false;

  int features() const;
};

struct TableData {
  TableLayout layout;
  SplitData data;
};

/// Reads a table from `text`. Cells are separated by commas, or by semicolons or tabs if the header
/// has no comma, and may stand in double quotes (RFC 4180).
///
/// @param name  of the table, in errors
/// @param test  a second table, all of it for testing; empty: a share of the first
Expected<TableData> parse_table(std::string_view text,
                                const std::string& name,
                                const TableOptions& options,
                                std::string_view test = {},
                                const std::string& test_name = {});

/// The same from files. @param test  its path; empty: none
Expected<TableData> read_table(const std::string& path,
                               const TableOptions& options,
                               const std::string& test = {});

/// Rows for a model that was trained on a table of this layout. Columns are found by name, others
/// are not looked at. Without the label column the labels stay empty.
Expected<DataSet> parse_rows(std::string_view text,
                             const std::string& name,
                             const TableLayout& layout);

}  // namespace paceline
