// The cells of a CSV text, by libcsv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

class CsvCells {
 public:
  /// @return an error for broken quotes, rows of different lengths, columns without a name or with
  /// the same one, or if there is no row under the header
  static Expected<CsvCells> parse(std::string_view text, const std::string& name);

  const std::vector<std::string>& columns() const { return columns_; }

  int rows() const { return rows_; }  ///< under the header

  /// Without blanks around it, unless they stand in quotes.
  std::string_view cell(int row, int column) const {
    const std::size_t k =
        static_cast<std::size_t>(row) * columns_.size() + static_cast<std::size_t>(column);
    return std::string_view(text_).substr(begins_[k], begins_[k + 1] - begins_[k]);
  }

  /// The number of the column of that name, -1 if there is none.
  int find(std::string_view column) const;

 private:
  std::vector<std::string> columns_;
  int rows_ = 0;
  std::string text_;                 ///< all cells, one after the other, the header first
  std::vector<std::size_t> begins_;  ///< shape (rows * columns + 1), of those under the header
};

}  // namespace paceline
