// The options of the subcommands that search over schemes: what a scheme may use, and how the
// recorded rounds are resampled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "delay_options.hpp"
#include "paceline/delay_table.hpp"
#include "paceline/expected.hpp"
#include "paceline/progress.hpp"
#include "paceline/search.hpp"
#include "worker_options.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

struct SearchOptions {
  DelayOptions delays;
  int workers = 0;
  double slope_factor = 1;
  int max_delay = 3;
  std::string storage = "all";
  std::string jobs_per_round = "auto";
  double max_residual = 0;
  int jobs = 200;
  int block = kBootstrapBlock;
  std::uint64_t seed = 1;
  WorkerOptions worker;
  int threads = 0;
  bool json = false;
};

void add_search_options(CLI::App& command, SearchOptions& options);

/// What the options ask for, checked.
struct SearchSetup {
  DelayTable delays;
  std::string text;  ///< file name or model, for titles
  double storage = 1;
  int fewest_jobs_per_round = 1;
  int most_jobs_per_round = 1;
  double max_residual = 0;
  PlayOptions play = {};
};

Expected<SearchSetup> make_search_setup(const SearchOptions& options);

/// A search that shows its progress on standard error and ends in order at Ctrl-C.
class WatchedSearch {
 public:
  explicit WatchedSearch(const SearchOptions& options);

  const SearchControl& control() const { return control_; }

  /// Takes the progress away, so that results may be written.
  void clear() { progress_->clear(); }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::unique_ptr<Progress> progress_;
  SearchControl control_;
};

}  // namespace paceline::app
