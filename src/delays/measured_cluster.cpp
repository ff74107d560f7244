// Several profiles of one cluster: how its times grow with the load.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "delays/doubts.hpp"
#include "delays/failed_calls.hpp"
#include "delays/median.hpp"
#include "delays/read_file.hpp"
#include "paceline/check.hpp"
#include "paceline/delay_profile.hpp"

namespace paceline {
namespace {

/// Of an entry: what rounding may take from entry - slope * load where both are equal on paper.
constexpr double kRounding = 1e-12;

struct File {
  std::string path;
  DelayProfile profile;
};

Expected<std::vector<File>> read_all(std::span<const std::string> paths,
                                     const ImportOptions& options) {
  std::vector<File> files;
  for (const std::string& path : paths) {
    const auto bytes = read_file(path);
    if (!bytes) return Unexpected(bytes.error());
    auto profile = parse_delay_profile(*bytes, path, options);
    if (!profile) return Unexpected(profile.error());
    files.push_back({path, std::move(*profile)});
  }
  std::stable_sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.profile.load < b.profile.load;
  });
  return files;
}

Expected<void> check_one_cluster(const std::vector<File>& files) {
  for (std::size_t k = 1; k < files.size(); ++k) {
    const File& a = files[k - 1];
    const File& b = files[k];
    if (a.profile.load == b.profile.load) {
      return invalid(
          fmt::format("{} and {} both have load {}; allowed: one file per load (\"# load=0.25\" in "
                      "the file)",
                      a.path,
                      b.path,
                      a.profile.load));
    }
    if (a.profile.workers != b.profile.workers) {
      return invalid(fmt::format("{} has {} workers, {} has {}; allowed: files of one cluster",
                                 a.path,
                                 a.profile.workers,
                                 b.path,
                                 b.profile.workers));
    }
  }
  return {};
}

/// The files whose calls, as far as the others tell, have not failed.
std::vector<File> valid_of(const std::vector<File>& files, std::vector<std::string>& warnings) {
  std::vector<DelayProfile> all;
  for (const File& file : files) all.push_back(file.profile);
  std::vector<File> valid;
  for (const File& file : files) {
    const auto ok = check_calls_succeeded(file.profile, file.path, all);
    if (ok) {
      valid.push_back(file);
    } else {
      warnings.push_back(ok.error().message + "; it is left out");
    }
  }
  return valid;
}

/// A line about each file whose typical times are about 1000 times those of the others.
void doubt_units(const std::vector<File>& files, std::vector<std::string>& warnings) {
  std::vector<double> typical;
  for (const File& file : files) typical.push_back(median_of(file.profile.seconds));
  const double usual = median_of(typical);
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (!like_another_unit(typical[k] / usual)) continue;
    warnings.push_back(
        fmt::format("{}: typical times of {:.4g} s, {:.4g} s in the other files: a "
                    "file in another unit?",
                    files[k].path,
                    typical[k],
                    usual));
  }
}

/// The line through all loads may be steeper than the fastest answers at the lowest load leave room
/// for, where that load is above 0. Then the steepest that they do is taken.
void flatten(LoadLine& line,
             const DelayProfile& lowest,
             std::span<const DelayProfile> profiles,
             std::vector<std::string>& warnings) {
  const double least = *std::min_element(lowest.seconds.begin(), lowest.seconds.end());
  if (line.slope * lowest.load <= least) return;
  const double steepest = least / lowest.load;
  warnings.push_back(
      fmt::format("times grow by {:.4g} s per unit of load, but the fastest answer at load {} took "
                  "{:.4g} s: {:.4g} s per unit "
                  "is used; a profile at a load near 0 would say more",
                  line.slope,
                  lowest.load,
                  least,
                  steepest));
  double load = 0, count = 0;
  for (const DelayProfile& profile : profiles) {
    const auto entries = static_cast<double>(profile.seconds.size());
    load += profile.load * entries;
    count += entries;
  }
  line.intercept += (line.slope - steepest) * load / count;
  line.slope = steepest;
}

}  // namespace

Expected<LoadLine> fit_load_line(std::span<const DelayProfile> profiles) {
  double count = 0, sum_x = 0, sum_y = 0;
  for (const DelayProfile& profile : profiles) {
    for (const double seconds : profile.seconds) {
      count += 1;
      sum_x += profile.load;
      sum_y += seconds;
    }
  }
  const double mean_x = count > 0 ? sum_x / count : 0;
  const double mean_y = count > 0 ? sum_y / count : 0;
  double xx = 0, xy = 0;
  for (const DelayProfile& profile : profiles) {
    for (const double seconds : profile.seconds) {
      xx += (profile.load - mean_x) * (profile.load - mean_x);
      xy += (profile.load - mean_x) * (seconds - mean_y);
    }
  }
  if (xx <= 0) return invalid("a slope needs profiles of at least two loads");
  const double slope = xy / xx;
  if (slope < 0) {
    return invalid(
        fmt::format("times fall by {:.4g} s per unit of load; allowed: times that grow with the "
                    "load, or a slope that is given (--slope)",
                    -slope));
  }
  return LoadLine{slope, mean_y - slope * mean_x};
}

Expected<DelayProfile> at_zero_load(DelayProfile profile, double slope) {
  PACELINE_CHECK(slope >= 0 && !profile.seconds.empty());
  const auto least = std::min_element(profile.seconds.begin(), profile.seconds.end());
  const double work = slope * profile.load;  // the part of every entry that load explains
  if (*least - work < -kRounding * *least) {
    const auto at = static_cast<int>(least - profile.seconds.begin());
    return invalid(
        fmt::format("slope={} is too steep for this profile: round {}, worker {} took {} s at load "
                    "{}, which leaves {:.4g} s at zero load; allowed: 0 <= slope <= {:.6g}",
                    slope,
                    at / profile.workers,
                    at % profile.workers,
                    *least,
                    profile.load,
                    *least - work,
                    *least / profile.load));
  }
  for (double& seconds : profile.seconds) seconds = std::max(0.0, seconds - work);
  profile.load = 0;
  return profile;
}

Expected<MeasuredCluster> read_measured_cluster(std::span<const std::string> paths,
                                                const ImportOptions& options) {
  MeasuredCluster cluster;
  if (paths.empty()) return invalid("no delay profile is given");
  if (paths.size() == 1) {
    auto profile = read_delay_profile(paths.front(), options);
    if (!profile) return Unexpected(profile.error());
    cluster.files = {*profile};
    cluster.base = std::move(*profile);
    return cluster;
  }
  if (options.load) return invalid("--load is that of one file; several say theirs themselves");
  const auto files = read_all(paths, options);
  if (!files) return Unexpected(files.error());
  if (auto ok = check_one_cluster(*files); !ok) return Unexpected(ok.error());
  std::vector<std::string> warnings;
  std::vector<File> valid = valid_of(*files, warnings);
  doubt_units(valid, warnings);
  for (File& file : valid) {
    warnings.insert(warnings.end(), file.profile.warnings.begin(), file.profile.warnings.end());
    cluster.files.push_back(std::move(file.profile));
  }
  if (cluster.files.size() >= 2) {
    const auto line = fit_load_line(cluster.files);
    if (!line) return Unexpected(line.error());
    cluster.line = *line;
    flatten(*cluster.line, cluster.files.front(), cluster.files, warnings);
  }
  cluster.base = cluster.files.front();
  cluster.base.warnings = std::move(warnings);
  return cluster;
}

}  // namespace paceline
