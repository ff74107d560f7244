// The options that say what simulated workers are like, shared by the subcommands that simulate.
#pragma once

#include <string>

#include "paceline/play.hpp"

namespace CLI {
class App;
}

namespace paceline::app {

struct WorkerOptions {
  std::string kind = "stateless";
  std::string stragglers;  ///< "cancel" or "finish"; empty: what suits the kind
  double stop_latency = 0;
};

void add_worker_options(CLI::App& command, WorkerOptions& options);

/// The part of PlayOptions that says it.
PlayOptions to_play_options(const WorkerOptions& options);

}  // namespace paceline::app
