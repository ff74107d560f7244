// paceline tune --published: the parameter search of the program behind the SGC paper.
#pragma once

#include <memory>

#include "paceline/expected.hpp"
#include "search_options.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

struct PublishedOptions {
  bool asked = false;
  double mu = 1;
  int longest_window = 20;
  int most_slots = 10;
};

/// @pre all options of `tune` have been added: those that the published search has no use for are
///      refused beside --published
void add_published_options(CLI::App& command, PublishedOptions& options);

/// @param jobs_given  else as many jobs as leave most_slots rounds of the profile for tail rounds
Expected<void> run_published(const PublishedOptions& options,
                             const SearchOptions& search,
                             bool jobs_given);

}  // namespace paceline::app
