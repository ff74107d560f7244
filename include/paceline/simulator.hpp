// The virtual-time driver: plays a coordinator against a delay source, without a gradient in
// memory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"
#include "paceline/expected.hpp"

namespace paceline {

/// What a straggler of one round is in the next.
enum class WorkerKind {
  kStateless,   ///< serverless: a late answer never delays the next round
  kPersistent,  ///< still busy: it starts the next order when it has finished or noticed the stop
};

struct SimulatorOptions {
  WorkerKind workers = WorkerKind::kStateless;
  Seconds stop_latency{0};  ///< persistent workers: time from a Stop until the worker is free
  std::function<void(const RoundRecord&)> observer = {};  ///< may be empty
  /// Called with every answered order before the coordinator hears of it, and with every Apply and
  /// Drop: payloads, for simulations with real gradients. Any may be empty. An error ends the
  /// simulation.
  std::function<Expected<void>(const Order&)> on_answer = {};
  std::function<Expected<void>(const Apply&)> on_apply = {};
  std::function<void(const Drop&)> on_drop = {};
};

struct SimulationResult {
  Seconds total{0};            ///< from the start to the last decoded job
  int rounds = 0;              ///< rounds in which somebody worked
  int jobs = 0;                ///< jobs decoded
  int wait_outs = 0;           ///< rounds whose close policy waited past its cutoff
  double mean_stragglers = 0;  ///< per round
  double mean_residual = 0;    ///< per job: what its decoding left (Decoding::residual)
};

Expected<SimulationResult> simulate(Coordinator& coordinator,
                                    const DelaySource& delays,
                                    const SimulatorOptions& options = {});

}  // namespace paceline
