#include "worker_options.hpp"

#include <CLI/CLI.hpp>

namespace paceline::app {

void add_worker_options(CLI::App& command, WorkerOptions& options) {
  command.add_option("--worker-kind", options.kind, "stateless (serverless) or persistent")
      ->check(CLI::IsMember({"stateless", "persistent"}))
      ->capture_default_str();
  command
      .add_option(
          "--stragglers",
          options.stragglers,
          "When a round closes: cancel them, or let them finish (default: cancel if persistent)")
      ->check(CLI::IsMember({"cancel", "finish"}));
  command
      .add_option("--stop-latency",
                  options.stop_latency,
                  "Seconds until a cancelled persistent worker is free")
      ->check(CLI::NonNegativeNumber);
}

PlayOptions to_play_options(const WorkerOptions& options) {
  const bool persistent = options.kind == "persistent";
  PlayOptions play;
  play.workers = persistent ? WorkerKind::kPersistent : WorkerKind::kStateless;
  // A stateless straggler costs nothing when it finishes late, so its answer is heard (schemes may
  // learn from it).
  play.cancel_stragglers = options.stragglers.empty() ? persistent : options.stragglers == "cancel";
  play.stop_latency = Seconds{options.stop_latency};
  return play;
}

}  // namespace paceline::app
