// What `paceline train` can be told.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "configuration.hpp"
#include "delay_options.hpp"
#include "paceline/run_report.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

/// How a table is read, where the data is one.
struct TableFlags {
  std::string label;                 ///< column with the class
  std::vector<std::string> ignored;  ///< columns that are no features
  std::string missing = "error";     ///< or "mean"
  std::string test;                  ///< a table to test on; empty: a share of the rows
  double test_share = 0.2;
};

struct TrainOptions {
  std::vector<std::string> schemes = {"relay"};
  std::string close = "eager";
  int workers = 0;
  DelayOptions delays;

  std::string model = "small-cnn";
  std::string device = "cpu";
  int models = 4;
  int max_delay = -1;  ///< of `auto`: T, so that at most T+1 jobs are in flight; -1: M - 1
  std::vector<std::string> optimizers = {"adam:lr=0.01"};
  std::string data = "data/mnist";
  TableFlags table;
  int batch = 256;
  int updates = 60;
  double skip_above = std::numeric_limits<double>::infinity();  ///< no step if more is left out
  std::uint64_t seed = 1;

  int micro_batch = 256;
  std::string messages = "float32";
  int compute_slots = 0;
  std::string transport = "auto";
  int workers_per_rank = 0;  ///< 0: as few as suffice
  int servers = 0;           ///< ranks that hold parameters; 0: the master does
  double rank_limit = 0;     ///< seconds; 0: derived from measured response times
  double join_limit = 0;     ///< seconds, as the next two; 0: derived
  double end_limit = 0;
  double master_limit = 0;
  bool verify = false;
  bool json = false;
  bool timeline = false;
  bool csv = false;
  std::string tensorboard;  ///< folder; empty: no event files
  std::string run_directory;
  std::string dashboard;  ///< address of the live page; empty: none

  std::vector<std::string> faults;  ///< to be played
  std::string checkpoint;           ///< folder; empty: none are written, unless `resume` names one
  int checkpoint_every = 100;       ///< decoded jobs
  int keep = 3;
  bool resumes = false;
  std::string resume;  ///< folder; empty: that of `checkpoint`

  int jobs() const { return models * updates; }
};

/// Those that say what a worker computes, how fast, and how many there are.
void add_cluster_options(CLI::App& command, TrainOptions& options);

/// Where checkpoints go, and where a run goes on from.
void add_checkpoint_options(CLI::App& command, TrainOptions& options);

void add_train_options(CLI::App& command, TrainOptions& options);

/// Every option with its value and where that came from.
/// @param origins  of those that were not typed
std::vector<Setting> effective_settings(const CLI::App& command, const Origins& origins);

/// The settings as JSON: {"workers": {"value": "16", "origin": "default"}, ...}.
std::string settings_json(const std::vector<Setting>& settings);

}  // namespace paceline::app
