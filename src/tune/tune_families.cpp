#include "tune/tune_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tune/slow_workers.hpp"

namespace paceline {
namespace {

/// All workers but the first k of `slowest`, ascending.
std::vector<int> without_first(const std::vector<int>& slowest, int k) {
  std::vector<int> kept(slowest.begin() + k, slowest.end());
  std::ranges::sort(kept);
  return kept;
}

/// Along a line the number of workers that share a job grows; m such groups work side by side.
TuneFamily uncoded_on_fewer(const std::vector<int>& slowest, const SearchLimits& limits) {
  TuneFamily family{kUncodedOnFewer, {}};
  const int fewest = static_cast<int>(std::ceil(1 / limits.storage - 1e-9));
  const int most_bundled = std::min(limits.most_jobs_per_round, limits.models);
  for (int m = limits.fewest_jobs_per_round; m <= most_bundled; ++m) {
    const int most = (limits.workers - 1) / m;
    if (most < fewest) continue;
    const std::string text = m > 1 ? fmt::format("uncoded:bundle={}", m) : std::string("uncoded");
    const auto at = [slowest, text, m, n = limits.workers](int per_job) {
      return Candidate{text, {}, without_first(slowest, n - m * per_job)};
    };
    family.lines.push_back({fewest, most, at, {"eager"}, 0});
  }
  return family;
}

TuneFamily gc_on_fewer(const std::vector<int>& slowest, int slow, SearchLimits limits) {
  TuneFamily family{kGcOnFewer, {}};
  limits.workers -= slow;
  const std::vector<int> kept = slow > 0 ? without_first(slowest, slow) : std::vector<int>();
  for (const SearchFamily& some : search_space(limits)) {
    if (some.name != "gc") continue;
    for (const SearchLine& line : some.lines) {
      const auto at = [text = line.text, kept](int value) {
        return Candidate{text(value), {}, kept};
      };
      family.lines.push_back({line.low, line.high, at, {"eager"}, 0});
    }
  }
  return family;
}

}  // namespace

std::vector<TuneFamily> tune_families(const DelayTable& delays, const SearchLimits& limits) {
  const std::vector<double> slow_by = slowness(delays);
  const std::vector<int> slowest = slowest_first(slow_by);
  const auto slow = static_cast<int>(always_slow(slow_by).size());
  std::vector<TuneFamily> families;
  for (const SearchFamily& family : search_space(limits)) {
    const CloseLists closes = family.only_eager ? CloseLists{{"eager"}} : searched_closes();
    families.push_back({family.name, candidate_lines(family, closes)});
    if (family.name == "uncoded") families.push_back(uncoded_on_fewer(slowest, limits));
    if (family.name == "gc") families.push_back(gc_on_fewer(slowest, slow, limits));
  }
  std::erase_if(families, [](const TuneFamily& family) { return family.lines.empty(); });
  return families;
}

std::vector<std::string> tune_family_names(const SearchLimits& limits) {
  std::vector<std::string> names;
  for (const SearchFamily& family : search_space(limits)) {
    names.push_back(family.name);
    if (family.name == "uncoded") names.emplace_back(kUncodedOnFewer);
    if (family.name == "gc") names.emplace_back(kGcOnFewer);
  }
  return names;
}

}  // namespace paceline
