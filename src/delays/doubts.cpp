// A unit taken for another is a factor of 1000. Real stragglers go that far too (a call that is
// tried again after 40 s among calls of 50 ms), so this warns and does not refuse.
#include "delays/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "delays/median.hpp"

namespace paceline {
namespace {

constexpr double kLongRound = 600;  // seconds; typical times above it are hardly seconds
constexpr double kLeastRatio = 300;
constexpr double kGreatestRatio = 3000;

bool like_thousand(double ratio) { return ratio >= kLeastRatio && ratio <= kGreatestRatio; }

}  // namespace

bool like_another_unit(double ratio) { return like_thousand(ratio) || like_thousand(1 / ratio); }

std::vector<std::string> doubts_about(const DelayProfile& profile, const std::string& name) {
  std::vector<std::string> doubts;
  const double typical = median_of(profile.seconds);
  if (typical > kLongRound) {
    doubts.push_back(
        fmt::format("{}: typical times of {:.4g} s: are they milliseconds (--unit ms) or relative?",
                    name,
                    typical));
  }
  const auto [least, most] = std::minmax_element(profile.seconds.begin(), profile.seconds.end());
  if (*least == *most && profile.seconds.size() > 1) {
    doubts.push_back(fmt::format("{}: all times are {:.4g} s: were they measured?", name, *least));
  }

  std::vector<std::vector<double>> columns(static_cast<std::size_t>(profile.workers));
  for (std::size_t k = 0; k < profile.seconds.size(); ++k) {
    columns[k % columns.size()].push_back(profile.seconds[k]);
  }
  std::vector<double> medians;
  for (const auto& column : columns) medians.push_back(median_of(column));
  const double usual = median_of(medians);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (like_another_unit(medians[i] / usual)) {
      doubts.push_back(
          fmt::format("{}: column {} (worker {}): typical times of {:.4g} s, {:.4g} s in the other "
                      "columns: a column in another unit?",
                      name,
                      i + 1,
                      i,
                      medians[i],
                      usual));
      continue;
    }
    for (std::size_t r = 0; r < columns[i].size(); ++r) {
      if (!like_thousand(columns[i][r] / medians[i])) continue;
      doubts.push_back(
          fmt::format("{}: row {}, column {} (round {}, worker {}): {:.4g} s, {:.4g} s in "
                      "the column's other rows: a value in another unit?",
                      name,
                      r + 1,
                      i + 1,
                      r,
                      i,
                      columns[i][r],
                      medians[i]));
      break;  // one per column is enough to look there
    }
  }
  return doubts;
}

}  // namespace paceline
