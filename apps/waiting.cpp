#include "waiting.hpp"

#include <algorithm>

namespace paceline::app {

std::optional<Seconds> until_slowest(const RoundRecord& record,
                                     double load,
                                     const DelaySource* delays) {
  Seconds last = record.closed - record.opened;
  if (record.stragglers.empty()) return last;
  if (delays == nullptr) return std::nullopt;
  record.stragglers.for_each([&](WorkerId worker) {
    last = std::max(last, delays->delay(record.round, worker).at(load));
  });
  return last;
}

void add_time_won(std::optional<Seconds>& won,
                  const RoundRecord& record,
                  double load,
                  const DelaySource* delays) {
  const auto slowest = until_slowest(record, load, delays);
  if (!won || !slowest) {
    won.reset();
    return;
  }
  *won += *slowest - (record.closed - record.opened);
}

}  // namespace paceline::app
