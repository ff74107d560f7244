#include "paceline/play.hpp"

#include <utility>

#include "paceline/close_policy.hpp"
#include "paceline/round_coordinator.hpp"
#include "sim/answer_player.hpp"
#include "sim/round_player.hpp"
#include "sim/whole_round_player.hpp"

namespace paceline {
namespace {

struct Game {
  std::unique_ptr<Scheme> scheme;
  std::unique_ptr<ClosePolicy> policy;
  RoundOptions rounds;
};

Expected<Game> make_game(std::string_view text,
                         int workers,
                         bool messages,
                         const PlayOptions& options) {
  auto policy = make_close_policy(options.close);
  if (!policy) return Unexpected(policy.error());
  const CloseRule rule = (*policy)->rule();
  auto scheme = make_scheme(text,
                            {.workers = workers,
                             .jobs = options.jobs,
                             .rule = rule,
                             .seed = options.seed,
                             .stops_stragglers = options.cancel_stragglers,
                             .keep_promise = false,
                             .messages = messages,
                             .message_type = options.message_type});
  if (!scheme) return Unexpected(scheme.error());
  const SchemeInfo& info = (*scheme)->info();
  const RoundOptions rounds = {.jobs = options.jobs,
                               .models = options.models > 0 ? options.models : info.open_jobs,
                               .cancel_stragglers = options.cancel_stragglers,
                               .charge_missing_jobs = rule == CloseRule::kPublished};
  if (auto fine = check_round_options(info, rounds); !fine) return Unexpected(fine.error());
  return Game{*std::move(scheme), *std::move(policy), rounds};
}

}  // namespace

Expected<Played> play(std::string_view text,
                      const DelaySource& delays,
                      const PlayOptions& options) {
  const bool whole_rounds = !options.by_events && !options.observer && !options.wrap &&
                            options.workers == WorkerKind::kStateless;
  auto game = make_game(text, delays.workers(), !whole_rounds, options);
  if (!game) return Unexpected(game.error());
  Played played;
  played.info = game->scheme->info();
  const std::optional<Patience> patience = game->policy->patience();
  if (whole_rounds && patience && game->scheme->timeless()) {
    const auto result = play_rounds(*game->scheme,
                                    delays,
                                    {.jobs = game->rounds.jobs,
                                     .charge_missing_jobs = game->rounds.charge_missing_jobs,
                                     .patience = *patience});
    if (result) {
      played.result = *result;
      return played;
    }
  }
  if (whole_rounds && patience && patience->is_eager()) {
    const auto result = play_whole_rounds(*game->scheme, delays, game->rounds.jobs);
    if (result) {
      played.result = *result;
      return played;
    }
  }
  if (whole_rounds && patience && patience->is_eager() && game->scheme->answers_decide()) {
    game = make_game(text, delays.workers(), true, options);
    const auto result = play_by_answers(*game->scheme, delays, game->rounds.jobs);
    if (result) {
      played.result = *result;
      return played;
    }
  }
  if (whole_rounds) game = make_game(text, delays.workers(), true, options);
  auto coordinator =
      make_round_coordinator(std::move(game->scheme), std::move(game->policy), game->rounds);
  if (!coordinator) return Unexpected(coordinator.error());
  if (options.wrap) *coordinator = options.wrap(*std::move(coordinator), played.info);
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
