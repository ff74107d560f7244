#include "delays/failed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "delays/median.hpp"
#include "paceline/parameters.hpp"

namespace paceline {
namespace {

constexpr double kLeastShareOfPrediction = 0.25;

/// "run-load0.250.csv" -> "run-load"; nothing if the name does not end like that.
std::optional<std::string_view> name_before_load(std::string_view name) {
  constexpr std::string_view key = "load";
  constexpr std::string_view extension = ".csv";
  if (!name.ends_with(extension)) return std::nullopt;
  name.remove_suffix(extension.size());
  const std::size_t at = name.rfind(key);
  if (at == std::string_view::npos || !to_number(name.substr(at + key.size()))) return std::nullopt;
  return name.substr(0, at + key.size());
}

/// Least squares of the siblings' medians over their loads, never falling with the load, at `load`.
std::optional<double> predicted_median(double load, std::span<const DelayProfile> siblings) {
  double count = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const DelayProfile& sibling : siblings) {
    if (sibling.load <= load) continue;
    const double x = sibling.load;
    const double y = median_of(sibling.seconds);
    count += 1;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  if (count < 2 || spread <= 1e-12) return std::nullopt;
  const double slope = std::max(0.0, (count * sum_xy - sum_x * sum_y) / spread);
  return sum_y / count + slope * (load - sum_x / count);
}

}  // namespace

std::vector<std::string> profiles_of_the_same_run(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> siblings;
  const fs::path self(path);
  const std::string self_name = self.filename().string();
  const auto run = name_before_load(self_name);
  if (!run) return siblings;
  std::error_code error;
  const fs::path folder = self.has_parent_path() ? self.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name != self_name && name_before_load(name) == run) {
      siblings.push_back(entry->path().string());
    }
  }
  std::sort(siblings.begin(), siblings.end());
  return siblings;
}

Expected<void> check_calls_succeeded(const DelayProfile& profile,
                                     const std::string& name,
                                     std::span<const DelayProfile> siblings) {
  const std::optional<double> predicted = predicted_median(profile.load, siblings);
  if (!predicted) return {};
  const double measured = median_of(profile.seconds);
  if (measured >= kLeastShareOfPrediction * *predicted) return {};
  return invalid(fmt::format(
      "{}: its median of {:.4g} s at load {} looks like failed calls: the profiles of the same run "
      "at greater loads predict {:.4g} s; allowed: at least a quarter of that (if the times are "
      "right, keep the file apart from that run)",
      name,
      measured,
      profile.load,
      *predicted));
}

}  // namespace paceline
