// What both CSV forms of a delay profile share: numbered lines, cells, comment lines of the form
// "# key=value", and errors that name the place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/delay_profile.hpp"
#include "paceline/expected.hpp"

namespace paceline {

/// Without blanks around it.
std::string_view trimmed(std::string_view text);

/// A piece of the input for an error message: one line, printable, not too long.
std::string in_quotes(std::string_view text);

std::vector<std::string_view> cells_of(std::string_view line);

/// The lines of a text, numbered from 1, without their line ends.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool done() const { return rest_.empty(); }

  std::string_view next();

  int number() const { return number_; }  ///< of the line that next() gave last

  bool only_blanks_left() const;

  Unexpected<Error> wrong(std::string_view what, std::string_view allowed) const;
  /// @param column  from 1
  Unexpected<Error> wrong_cell(int column, std::string_view what) const;

  /// A response time: a finite number > 0.
  Expected<double> time(std::string_view cell, int column) const;

 private:
  std::string_view rest_;
  const std::string& name_;
  int number_ = 0;
};

/// What comment lines say.
class ProfileHeader {
 public:
  /// @param comment  the line without '#'
  Expected<void> read(std::string_view comment, const Lines& lines);

  /// Compares the counts with the table, and gives it its load.
  Expected<void> apply_to(DelayProfile& profile, const std::string& name) const;

 private:
  Expected<void> set(std::string_view key, std::string_view text, const Lines& lines);

  std::optional<double> load_;
  std::optional<double> workers_;
  std::optional<double> rounds_;
};

}  // namespace paceline
