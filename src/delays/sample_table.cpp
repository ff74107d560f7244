#include "delays/sample_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "delays/csv_text.hpp"
#include "paceline/parameters.hpp"

namespace paceline {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Numbers by value and before other names.
struct ByValue {
  bool operator()(const std::string& a, const std::string& b) const {
    const std::optional<double> x = to_number(a);
    const std::optional<double> y = to_number(b);
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
  }
};

using Index = std::map<std::string, std::size_t, ByValue>;

Index numbered(const std::vector<Sample>& samples, std::string Sample::*name) {
  Index index;
  for (const Sample& sample : samples) index.emplace(sample.*name, 0);
  std::size_t next = 0;
  for (auto& entry : index) entry.second = next++;
  return index;
}

/// The name that has this number. @pre it is in the index
const std::string& name_of(const Index& index, std::size_t number) {
  return std::find_if(
             index.begin(), index.end(), [&](const auto& entry) { return entry.second == number; })
      ->first;
}

Expected<DelayProfile> by_order(const std::vector<Sample>& samples,
                                const Index& workers,
                                const std::string& name) {
  std::vector<std::vector<double>> columns(workers.size());
  for (const Sample& sample : samples) {
    columns[workers.at(sample.worker)].push_back(sample.seconds);
  }
  const auto [shortest, longest] = std::minmax_element(
      columns.begin(), columns.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  DelayProfile profile;
  profile.workers = static_cast<int>(columns.size());
  profile.rounds = static_cast<int>(shortest->size());
  for (std::size_t r = 0; r < shortest->size(); ++r) {
    for (const auto& column : columns) profile.seconds.push_back(column[r]);
  }
  if (shortest->size() < longest->size()) {
    const auto fewest = static_cast<std::size_t>(shortest - columns.begin());
    profile.warnings.push_back(
        fmt::format("{}: the workers have {} to {} samples (fewest: worker {}); the first {} of "
                    "each are taken",
                    name,
                    shortest->size(),
                    longest->size(),
                    in_quotes(name_of(workers, fewest)),
                    shortest->size()));
  }
  return profile;
}

std::string place(const Sample& sample) {
  return sample.line > 0 ? fmt::format("line {}: ", sample.line) : "";
}

/// Cells without a sample stay kMissing.
Expected<std::vector<double>> cells(const std::vector<Sample>& samples,
                                    const Index& rounds,
                                    const Index& workers,
                                    const std::string& name) {
  std::vector<double> table(rounds.size() * workers.size(), kMissing);
  for (const Sample& sample : samples) {
    double& cell = table[rounds.at(sample.round) * workers.size() + workers.at(sample.worker)];
    if (!std::isnan(cell)) {
      return invalid(
          fmt::format("{}: {}a second sample of worker {} in round {}; allowed: one per "
                      "worker and round (without a round column they are counted)",
                      name,
                      place(sample),
                      in_quotes(sample.worker),
                      in_quotes(sample.round)));
    }
    cell = sample.seconds;
  }
  return table;
}

Unexpected<Error> mostly_gaps(const std::string& found, const std::string& name) {
  return invalid(
      fmt::format("{}: {}; allowed: at least half the rounds with a sample of every "
                  "worker (other columns: --columns)",
                  name,
                  found));
}

Expected<DelayProfile> by_round(const std::vector<Sample>& samples,
                                const Index& workers,
                                const std::string& name) {
  const Index rounds = numbered(samples, &Sample::round);
  if (rounds.size() * workers.size() > 2 * samples.size()) {  // before a large empty table is made
    return mostly_gaps(fmt::format("{} samples for {} rounds and {} workers",
                                   samples.size(),
                                   rounds.size(),
                                   workers.size()),
                       name);
  }
  const auto table = cells(samples, rounds, workers, name);
  if (!table) return Unexpected(table.error());
  DelayProfile profile;
  profile.workers = static_cast<int>(workers.size());
  std::string first_gap;
  for (const auto& [round, r] : rounds) {
    const auto row = table->begin() + static_cast<std::ptrdiff_t>(r * workers.size());
    const auto end = row + static_cast<std::ptrdiff_t>(workers.size());
    const auto gap = std::find_if(row, end, [](double cell) { return std::isnan(cell); });
    if (gap == end) {
      profile.seconds.insert(profile.seconds.end(), row, end);
      ++profile.rounds;
    } else if (first_gap.empty()) {
      first_gap = fmt::format("round {} has none of worker {}",
                              in_quotes(round),
                              in_quotes(name_of(workers, static_cast<std::size_t>(gap - row))));
    }
  }
  const int gaps = static_cast<int>(rounds.size()) - profile.rounds;
  if (gaps == 0) return profile;
  const std::string found =
      fmt::format("{} of {} rounds have missing samples, {}", gaps, rounds.size(), first_gap);
  if (gaps > profile.rounds) return mostly_gaps(found, name);
  profile.warnings.push_back(fmt::format("{}: {}; they are left out", name, found));
  return profile;
}

}  // namespace

Expected<DelayProfile> table_of(const std::vector<Sample>& samples, const std::string& name) {
  if (samples.empty()) return invalid(fmt::format("{}: no samples", name));
  const Index workers = numbered(samples, &Sample::worker);
  return samples.front().round.empty() ? by_order(samples, workers, name)
                                       : by_round(samples, workers, name);
}

}  // namespace paceline
