// What a run needs whatever its transport: checked options, slots, verification, the master.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "paceline/local_runtime.hpp"
#include "runtime/compute_pool.hpp"
#include "runtime/remote_bank.hpp"
#include "runtime/transport.hpp"
#include "runtime/verifier.hpp"
#include "runtime/worker.hpp"

namespace paceline {

using Sources = std::vector<std::unique_ptr<GradientSource>>;

/// @return an error that names the option and what is allowed
Expected<void> check_run(const LocalRunOptions& options);

MessageLayout layout_of(const LocalRunOptions& options, const BatchSampler& sampler);

/// Starts options.compute_slots threads, or as many as the machine has cores, but no more than
/// workers.
Expected<void> start_pool(std::optional<ComputePool>& pool,
                          const LocalRunOptions& options,
                          const Sources& sources);

/// Compares gradients on the pool, if that is asked for.
void start_verifier(std::optional<Verifier>& verifier,
                    ComputePool& pool,
                    const LocalRunOptions& options,
                    const Sources& sources,
                    const BatchSampler& sampler);

/// Plays the coordinator to its end and waits for pending verification. `overruns` is left to the
/// caller.
/// @param remote  where the payloads are, if `bank` is an outline; the verifier is then fed by it
Expected<LocalRunResult> play(Coordinator& coordinator,
                              ModelBank& bank,
                              Transport& transport,
                              std::optional<Verifier>& verifier,
                              const LocalRunOptions& options,
                              RemoteBank* remote = nullptr);

}  // namespace paceline
