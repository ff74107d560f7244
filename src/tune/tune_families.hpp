// What `tune` searches: the families of the catalogue, and the same schemes on fewer workers.
#pragma once

#include <string>
#include <vector>

#include "paceline/search_space.hpp"
#include "tune/line_search.hpp"

namespace paceline {

inline constexpr char kUncodedOnFewer[] = "uncoded-fewer";
inline constexpr char kGcOnFewer[] = "gc-fewer";

/// A family for one table of delays, ready to be searched.
struct TuneFamily {
  std::string name;
  std::vector<CandidateLine> lines;
};

/// From the simplest to the most involved. Besides the catalogue's families:
///   uncoded-fewer   uncoded without the k slowest workers, for any k >= 1
///   gc-fewer        gradient coding without the workers that are always slow; plain gradient
///   coding
///                   where no worker is
/// Who is slow is read off `delays`. The names do not depend on it.
std::vector<TuneFamily> tune_families(const DelayTable& delays, const SearchLimits& limits);

/// Their names.
std::vector<std::string> tune_family_names(const SearchLimits& limits);

}  // namespace paceline
