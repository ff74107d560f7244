// A comparison of schemes (compare.hpp) for people: a table for the terminal and a page.
#pragma once

#include <string>

#include "paceline/compare.hpp"

namespace paceline {

/// What a page says about itself.
struct PageFacts {
  std::string title;    ///< of the delays: file name or model
  std::string command;  ///< as typed
  std::string date;
  std::string machine;
};

/// A line per scheme, the fastest first within as many jobs per round, with the clairvoyant limit
/// above them. ASCII.
std::string comparison_text(const Comparison& comparison, const std::string& title);

/// One self-contained page: times with their spread beside the limit, jobs over time, load against
/// time for every setting that was tried, and who was waited for.
std::string comparison_html(const Comparison& comparison, const PageFacts& facts);

}  // namespace paceline
