#include "paceline/play.hpp"

#include <utility>

#include "paceline/close_policy.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {

Expected<Played> play(std::string_view text,
                      const DelaySource& delays,
                      const PlayOptions& options) {
  auto policy = make_close_policy(options.close);
  if (!policy) return Unexpected(policy.error());
  const CloseRule rule = (*policy)->rule();
  auto scheme = make_scheme(text,
                            {.workers = delays.workers(),
                             .jobs = options.jobs,
                             .rule = rule,
                             .seed = options.seed,
                             .keep_promise = false});
  if (!scheme) return Unexpected(scheme.error());
  Played played;
  played.info = (*scheme)->info();
  auto coordinator =
      make_round_coordinator(std::move(*scheme),
                             std::move(*policy),
                             {.jobs = options.jobs,
                              .models = options.models > 0 ? options.models : played.info.open_jobs,
                              .cancel_stragglers = options.cancel_stragglers,
                              .charge_missing_jobs = rule == CloseRule::kPublished});
  if (!coordinator) return Unexpected(coordinator.error());
  auto result = simulate(**coordinator,
                         delays,
                         {.workers = options.workers,
                          .stop_latency = options.stop_latency,
                          .observer = options.observer});
  if (!result) return Unexpected(result.error());
  played.result = *result;
  return played;
}

}  // namespace paceline
