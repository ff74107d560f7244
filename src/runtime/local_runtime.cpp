// Sets up a run in one process: slots, transport, verifier, master.
#include "paceline/local_runtime.hpp"

#include <optional>

#include "paceline/check.hpp"
#include "runtime/local_transport.hpp"
#include "runtime/run_parts.hpp"

namespace paceline {

Expected<LocalRunResult> run_local(Coordinator& coordinator,
                                   ModelBank& bank,
                                   const std::vector<std::unique_ptr<GradientSource>>& sources,
                                   const BatchSampler& sampler,
                                   const LocalRunOptions& options) {
  if (auto fine = check_run(options); !fine) return Unexpected(fine.error());
  PACELINE_CHECK(!sources.empty() && static_cast<int>(sources.size()) == bank.models());

  std::optional<ComputePool> pool;
  if (auto started = start_pool(pool, options, sources); !started) {
    return Unexpected(started.error());
  }
  std::optional<Verifier> verifier;
  if (options.verify) start_verifier(verifier, *pool, options, sources, sampler);
  // After the verifier: destroyed first, it stops all computing before anybody waits for a thread.
  LocalTransport transport(
      *pool, options.workers, layout_of(options, sampler), sampler, options.delays);

  auto result = play(coordinator, bank, transport, verifier, options);
  if (result) result->overruns = transport.overruns();
  return result;
}

}  // namespace paceline
