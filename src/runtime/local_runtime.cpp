// Sets up a run in one process: slots, transport, verifier, master.
#include "paceline/local_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

#include "paceline/check.hpp"
#include "paceline/chunks.hpp"
#include "runtime/compute_pool.hpp"
#include "runtime/local_transport.hpp"
#include "runtime/master.hpp"
#include "runtime/verifier.hpp"

namespace paceline {
namespace {

Expected<void> check(const LocalRunOptions& options) {
  if (options.workers < 1) {
    return invalid(fmt::format("workers={} is not allowed; workers >= 1", options.workers));
  }
  if (options.micro_batch < 1) {
    return invalid(
        fmt::format("micro_batch={} is not allowed; micro_batch >= 1", options.micro_batch));
  }
  if (options.compute_slots < 0) {
    return invalid(fmt::format(
        "compute_slots={} is not allowed; compute_slots >= 0, 0 for the machine's cores",
        options.compute_slots));
  }
  if (options.delays != nullptr && options.delays->workers() < options.workers) {
    return invalid(fmt::format("workers={} is too many for delays of {} workers; workers <= {}",
                               options.workers,
                               options.delays->workers(),
                               options.delays->workers()));
  }
  return {};
}

int slots_for(const LocalRunOptions& options) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(options.compute_slots > 0 ? options.compute_slots : cores, options.workers);
}

}  // namespace

Expected<LocalRunResult> run_local(Coordinator& coordinator,
                                   ModelBank& bank,
                                   const std::vector<std::unique_ptr<GradientSource>>& sources,
                                   const BatchSampler& sampler,
                                   const LocalRunOptions& options) {
  if (auto fine = check(options); !fine) return Unexpected(fine.error());
  PACELINE_CHECK(!sources.empty() && static_cast<int>(sources.size()) == bank.models());

  const int slots = slots_for(options);
  std::optional<ComputePool> pool;
  try {
    pool.emplace(slots, sources);
  } catch (const std::system_error& error) {
    return failed(fmt::format("cannot start {} compute threads: {}", slots, error.what()));
  }
  std::function<bool()> interrupted;
  if (options.interrupted != nullptr) {
    interrupted = [flag = options.interrupted] { return flag->load(); };
  }
  std::optional<Verifier> verifier;
  if (options.verify) {
    verifier.emplace(*pool,
                     sampler,
                     VerifierOptions{.length = sources[0]->length(),
                                     .micro_batch = options.micro_batch,
                                     .interrupted = interrupted});
  }
  // After the verifier: destroyed first, it stops all computing before anybody waits for a thread.
  LocalTransport transport(
      *pool,
      options.workers,
      {chunk_borders(sampler.batch_size(), options.chunk_size), options.parts, options.micro_batch},
      sampler,
      options.delays);
  bank.keep_gradient(options.verify);
  Master master(coordinator,
                bank,
                transport,
                verifier ? &*verifier : nullptr,
                {options.observer, interrupted});

  auto result = master.run();
  if (!result) return result;
  result->overruns = transport.overruns();
  if (verifier) {
    const auto verified = verifier->finish();
    if (!verified) return Unexpected(verified.error());
    result->verified = verified->count;
    result->worst_verify_error = verified->worst;
  }
  return result;
}

}  // namespace paceline
