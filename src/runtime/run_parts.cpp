#include "runtime/run_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "paceline/chunks.hpp"
#include "runtime/guard_transport.hpp"
#include "runtime/master.hpp"

namespace paceline {
namespace {

int slots_for(const LocalRunOptions& options) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(options.compute_slots > 0 ? options.compute_slots : cores, options.workers);
}

std::function<bool()> interruption_of(const LocalRunOptions& options) {
  if (options.interrupted == nullptr) return {};
  return [flag = options.interrupted] { return flag->load(); };
}

}  // namespace

Expected<void> check_run(const LocalRunOptions& options) {
  if (options.workers < 1) {
    return invalid(fmt::format("workers={} is not allowed; workers >= 1", options.workers));
  }
  if (options.micro_batch < 1) {
    return invalid(
        fmt::format("micro_batch={} is not allowed; micro_batch >= 1", options.micro_batch));
  }
  if (options.message_type == MessageType::kFloat64) {
    return invalid("message_type=float64 is not allowed; float32, float16 or bfloat16");
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

MessageLayout layout_of(const LocalRunOptions& options, const BatchSampler& sampler) {
  return {chunk_borders(sampler.batch_size(), options.chunk_size),
          options.shape,
          options.micro_batch,
          options.message_type};
}

Expected<void> start_pool(std::optional<ComputePool>& pool,
                          const LocalRunOptions& options,
                          const Sources& sources) {
  const int slots = slots_for(options);
  try {
    pool.emplace(slots, sources);
  } catch (const std::system_error& error) {
    return failed(fmt::format("cannot start {} compute threads: {}", slots, error.what()));
  }
  return {};
}

void start_verifier(std::optional<Verifier>& verifier,
                    ComputePool& pool,
                    const LocalRunOptions& options,
                    const Sources& sources,
                    const BatchSampler& sampler) {
  verifier.emplace(pool,
                   sampler,
                   VerifierOptions{.length = sources[0]->length(),
                                   .micro_batch = options.micro_batch,
                                   .interrupted = interruption_of(options)});
}

Expected<LocalRunResult> play(Coordinator& coordinator,
                              ModelBank& bank,
                              Transport& transport,
                              std::optional<Verifier>& verifier,
                              const LocalRunOptions& options,
                              RemoteBank* remote) {
  bank.keep_gradient(verifier.has_value() && remote == nullptr);
  GuardTransport guard(transport, bank, options.faults, options.on_fault);
  Master master(coordinator,
                bank,
                guard,
                verifier && remote == nullptr ? &*verifier : nullptr,
                {options.observer,
                 interruption_of(options),
                 options.on_work,
                 options.checkpoints,
                 bytes_of(options.message_type) * (remote != nullptr ? remote->numbers_each() : 1),
                 remote});
  auto result = master.run();
  if (!result) return result;
  if (remote != nullptr) {
    if (auto home = remote->finish(); !home) return Unexpected(home.error());
  }
  result->injected = guard.injected();
  result->discarded = guard.discarded();
  result->asked_again = guard.asked_again();
  if (!verifier) return result;
  const auto verified = verifier->finish();
  if (!verified) return Unexpected(verified.error());
  result->verified = verified->count;
  result->worst_verify_error = verified->worst;
  return result;
}

}  // namespace paceline
