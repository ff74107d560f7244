// Reads the parameters of one scheme ("s=3,code=cyclic") with types, ranges and errors that help.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

struct IntegerRange {
  int low = 0;
  int high = std::numeric_limits<int>::max();
  std::optional<int> otherwise;  ///< value where the text names none; empty: must be given
};

struct RealRange {
  double low = 0;
  double high = std::numeric_limits<double>::max();
  std::optional<double> otherwise;  ///< value where the text names none; empty: must be given
};

/// The first error is kept and the getters go on with values in range, so that a factory may read
/// everything and look once:
///
///     const int s = parameters.integer("s", {.low = 0, .high = n - 1});
///     if (auto fine = parameters.check(); !fine) return Unexpected(fine.error());
class SchemeParameters {
 public:
  /// @param scheme  name, for messages: "gc"
  /// @param known   names the scheme knows; a getter for another name is a ContractViolation
  /// @param given   (name, value) pairs as the text has them. An unknown or repeated name becomes
  /// the
  ///                first error.
  SchemeParameters(std::string scheme,
                   std::vector<std::string> known,
                   std::vector<std::pair<std::string, std::string>> given);

  bool has(std::string_view name) const;

  /// A whole number in low ... high.
  int integer(std::string_view name, const IntegerRange& range);

  /// A finite number in low ... high.
  double real(std::string_view name, const RealRange& range);

  /// One of `allowed`; `otherwise` where the text does not name it.
  std::string choice(std::string_view name,
                     const std::vector<std::string>& allowed,
                     const std::string& otherwise);

  /// Keeps an error of the caller's own, unless there was one before. `message` is prefixed by the
  /// scheme's name: "gc: ...".
  void fail(const std::string& message);

  /// The first error, if any.
  Expected<void> check() const;

 private:
  const std::string* find(std::string_view name) const;

  std::string scheme_;
  std::vector<std::string> known_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::optional<Error> error_;
};

}  // namespace paceline
