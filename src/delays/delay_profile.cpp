// Reads a delay profile, whatever form it has: the bytes decide, not the file's name.
//
//   begins with the two bytes of gzip           it is uncompressed, and the rest decides
//   begins with '{' or '['                      Chrome trace
//   first line that is no comment names columns long CSV
//   anything else                               wide CSV
#include "paceline/delay_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "delays/chrome_trace.hpp"
#include "delays/column_names.hpp"
#include "delays/csv_text.hpp"
#include "delays/doubts.hpp"
#include "delays/failed_calls.hpp"
#include "delays/gzip.hpp"
#include "delays/long_csv.hpp"
#include "delays/read_file.hpp"
#include "delays/wide_csv.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

constexpr double kMicrosecond = 1e-6;

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool is_long(std::string_view text) {
  const std::string no_name;
  Lines lines(text, no_name);
  while (!lines.done()) {
    const std::string_view line = lines.next();
    if (!line.starts_with('#') && !trimmed(line).empty()) return names_columns(line);
  }
  return false;
}

Expected<DelayProfile> parse_table(std::string_view text,
                                   const std::string& name,
                                   const std::string& columns,
                                   bool trace) {
  if (!trace && !is_long(text)) {
    if (columns.empty()) return parse_wide_csv(text, name);
    return invalid(fmt::format("{}: --columns {}: its first line names no columns", name, columns));
  }
  const auto names = parse_column_names(columns, trace);
  if (!names) return Unexpected(names.error());
  return trace ? parse_chrome_trace(text, name, *names) : parse_long_csv(text, name, *names);
}

Expected<void> check(const ImportOptions& options) {
  if (options.unit && !(*options.unit > 0 && std::isfinite(*options.unit))) {
    return invalid(fmt::format("unit={} is not allowed; a number of seconds > 0", *options.unit));
  }
  if (options.load && !(*options.load >= 0 && *options.load <= 1)) {
    return invalid(fmt::format("load={} is not allowed; 0 <= load <= 1", *options.load));
  }
  return {};
}

}  // namespace

Expected<DelayProfile> parse_delay_profile(std::string_view bytes,
                                           const std::string& name,
                                           const ImportOptions& options) {
  if (auto ok = check(options); !ok) return Unexpected(ok.error());
  std::string uncompressed;
  if (is_gzip(bytes)) {
    auto text = gunzip(bytes, name);
    if (!text) return Unexpected(text.error());
    uncompressed = std::move(*text);
    bytes = uncompressed;
  }
  const bool trace = is_json(bytes);
  auto profile = parse_table(bytes, name, options.columns, trace);
  if (!profile) return profile;
  const double unit = options.unit.value_or(trace ? kMicrosecond : 1);
  for (double& seconds : profile->seconds) seconds *= unit;
  const auto [least, most] = std::minmax_element(profile->seconds.begin(), profile->seconds.end());
  if (!(*least > 0) || !std::isfinite(*most)) {
    return invalid(fmt::format("{}: in units of {} s its times go from {} to {} s; allowed: > 0",
                               name,
                               unit,
                               *least,
                               *most));
  }
  if (options.load) profile->load = *options.load;
  for (std::string& doubt : doubts_about(*profile, name)) {
    profile->warnings.push_back(std::move(doubt));
  }
  return profile;
}

Expected<DelayProfile> read_delay_profile(const std::string& path, const ImportOptions& options) {
  const auto bytes = read_file(path);
  if (!bytes) return Unexpected(bytes.error());
  auto profile = parse_delay_profile(*bytes, path, options);
  if (!profile) return profile;

  std::vector<DelayProfile> siblings;
  for (const std::string& sibling : profiles_of_the_same_run(path)) {
    const auto other = read_file(sibling);
    if (!other) continue;  // a sibling is only evidence: one that cannot be read says nothing
    ImportOptions its_own = options;
    its_own.load.reset();
    if (auto parsed = parse_delay_profile(*other, sibling, its_own)) {
      siblings.push_back(std::move(*parsed));
    }
  }
  if (auto ok = check_calls_succeeded(*profile, path, siblings); !ok) return Unexpected(ok.error());
  return profile;
}

DelayProfile first_workers(const DelayProfile& profile, int workers) {
  PACELINE_CHECK(workers >= 1 && workers <= profile.workers);
  DelayProfile part{
      .rounds = profile.rounds, .workers = workers, .load = profile.load};
  part.seconds.reserve(static_cast<std::size_t>(part.rounds) * static_cast<std::size_t>(workers));
  for (int r = 0; r < profile.rounds; ++r) {
    for (int i = 0; i < workers; ++i) part.seconds.push_back(profile.at(r, i));
  }
  return part;
}

}  // namespace paceline
