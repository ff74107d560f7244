#include "sim/whole_round_player.hpp"

#include <cstddef>

#include "paceline/round_coordinator.hpp"
#include "paceline/whole_rounds.hpp"

namespace paceline {
namespace {

class SourceTimes final : public ResponseTimes {
 public:
  explicit SourceTimes(const DelaySource& delays) : delays_(delays) {}

  Response of(Round round, WorkerId worker, double load) const override {
    const Delay delay = delays_.delay(round, worker);
    return {delay.at(load).count(), (delay.per_load * load).count()};
  }

  void of_all(Round round,
              std::span<const double> loads,
              std::span<double> takes,
              std::span<double> compute) const override {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (loads[i] < 0) continue;
      const Response response = of(round, WorkerId{static_cast<int>(i)}, loads[i]);
      takes[i] = response.takes;
      compute[i] = response.compute;
    }
  }

 private:
  const DelaySource& delays_;
};

}  // namespace

std::optional<SimulationResult> play_whole_rounds(const Scheme& scheme,
                                                  const DelaySource& delays,
                                                  int jobs) {
  const SourceTimes times(delays);
  const auto rounds = scheme.whole_rounds(times);
  if (rounds == nullptr) return std::nullopt;
  SimulationResult result;
  const int most_idle = most_idle_rounds(scheme.info());
  int unanswered = 0;
  long long stragglers = 0;
  while (result.jobs < jobs) {
    const auto round = rounds->play(result.total);
    if (!round) return std::nullopt;
    result.total = round->ended;
    result.jobs = round->decoded;
    if (!round->closed) break;
    ++result.rounds;
    stragglers += round->stragglers;
    if (!round->at_once) unanswered = 0;
    if (round->complete == 0 && ++unanswered > most_idle) return std::nullopt;
  }
  if (result.rounds > 0) {
    result.mean_stragglers = static_cast<double>(stragglers) / result.rounds;
  }
  return result;
}

}  // namespace paceline
