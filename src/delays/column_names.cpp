#include "delays/column_names.hpp"

#include "paceline/parameters.hpp"

namespace paceline {

Expected<ColumnNames> parse_column_names(const std::string& text, bool trace) {
  ColumnNames names;
  if (text.empty()) return names;
  auto parsed = ParameterText::parse("columns:" + text);
  if (!parsed) return Unexpected(parsed.error());
  names.round = parsed->text("round", "");
  names.worker = parsed->text("worker", "");
  names.seconds = parsed->text("seconds", "");
  if (trace) names.events = parsed->text("events", "");
  if (auto ok = parsed->finish(); !ok) return Unexpected(ok.error());
  return names;
}

}  // namespace paceline
