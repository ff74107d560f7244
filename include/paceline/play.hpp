// Plays a scheme, given as text, on delays in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "paceline/coordinator.hpp"
#include "paceline/delays.hpp"
#include "paceline/expected.hpp"
#include "paceline/scheme.hpp"
#include "paceline/simulator.hpp"

namespace paceline {

/// How a scheme is played.
struct PlayOptions {
  int jobs = 0;                 ///< J >= 1
  int models = 0;               ///< M; 0: as many as the scheme keeps in flight
  std::string close = "eager";  ///< close policy
  std::uint64_t seed = 1;       ///< of the scheme's codes
  MessageType message_type = MessageType::kFloat32;  ///< decides which code `code=auto` is
  WorkerKind workers = WorkerKind::kStateless;
  bool cancel_stragglers = false;  ///< when a round closes; false: they finish and answer late
  Seconds stop_latency{0};         ///< persistent workers: from a cancel until the worker is free
  bool by_events = false;  ///< play every answer as an event even where whole rounds would do: the
                           ///< same result, slower
  std::function<void(const RoundRecord&)> observer = {};  ///< hears of every round; may be empty
  /// Gets the coordinator before it is played and returns the one to play (Timeline::watch); may be
  /// empty.
  std::function<std::unique_ptr<Coordinator>(std::unique_ptr<Coordinator>, const SchemeInfo&)>
      wrap = {};
};

struct Played {
  SchemeInfo info;
  SimulationResult result;
};

/// Builds the scheme for all workers of `delays` and plays it. Codes need not keep the promised
/// error, since no gradient is computed. With stateless workers timeless schemes are played round
/// by round, and so are relay and schemes whose answers decide with the eager policy; all else is
/// played event by event.
Expected<Played> play(std::string_view scheme,
                      const DelaySource& delays,
                      const PlayOptions& options);

}  // namespace paceline
