#include "sim/round_player.hpp"

#include <vector>

#include "paceline/arrivals.hpp"
#include "paceline/check.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

class RoundPlayer {
 public:
  RoundPlayer(Scheme& scheme, const DelaySource& delays, const RoundGame& game)
      : scheme_(scheme),
        delays_(delays),
        game_(game),
        arrivals_(delays.workers()),
        missing_(delays.workers()),
        loads_(static_cast<std::size_t>(delays.workers())),
        took_(static_cast<std::size_t>(delays.workers())) {}

  std::optional<SimulationResult> play() {
    const int most_idle = most_idle_rounds(scheme_.info());
    int without_work = 0;
    int unanswered = 0;
    for (; result_.jobs < game_.jobs; ++round_.value) {
      if (scheme_.loads(round_, game_.jobs, loads_) == 0) {
        if (++without_work >= most_idle) return std::nullopt;
        pass_without_work();
        continue;
      }
      without_work = 0;
      open();
      const Closing closing = find_closing();
      if (closing.moment == kAfterAllTime) return std::nullopt;
      const int complete = close(closing);
      unanswered = complete == 0 ? unanswered + 1 : 0;
      if (unanswered > most_idle) return std::nullopt;
    }
    result_.total = now_;
    if (result_.rounds > 0) {
      result_.mean_stragglers = static_cast<double>(stragglers_) / result_.rounds;
    }
    return result_;
  }

 private:
  struct Closing {
    Moment moment;
    bool waited_out = false;
  };

  void pass_without_work() {
    missing_.clear();
    result_.jobs += scheme_.pass(round_, missing_, game_.jobs);
  }

  void open() {
    if (game_.charge_missing_jobs) scheme_.loads(round_, kEndless, loads_);
    delays_.response_times(round_, loads_, took_);
    arrivals_.open(now_, loads_, took_);
  }

  Closing find_closing() {
    const Patience& patience = game_.patience;
    if (!patience.has_tolerance()) {
      const int needed = patience.answers_needed(arrivals_.busy_count());
      const Moment first = scheme_.first_pass(round_, arrivals_);
      return {needed == 0 ? first : std::max(first, arrivals_.nth(needed))};
    }
    const Moment fastest = arrivals_.first();
    if (fastest == kAfterAllTime) return {kAfterAllTime};
    const Seconds cutoff = now_ + (1 + patience.tolerance) * (fastest.at - now_);
    const Moment asked = cutoff <= fastest.at ? fastest : Moment{cutoff, Moment::kTimer};
    const Moment last = arrivals_.last();
    if (last <= asked) return {last};
    arrivals_.missing_after(asked, missing_);
    if (scheme_.may_pass(round_, missing_)) return {asked};
    return {patience.then_wait_for_all ? last : scheme_.first_pass(round_, arrivals_), true};
  }

  /// @return how many have answered
  int close(const Closing& closing) {
    if (closing.moment != kBeforeAnswers) now_ = closing.moment.at;
    arrivals_.missing_after(closing.moment, missing_);
    const int missing = missing_.size();
    result_.jobs += scheme_.pass(round_, missing_, game_.jobs);
    ++result_.rounds;
    result_.wait_outs += closing.waited_out ? 1 : 0;
    stragglers_ += missing;
    return arrivals_.busy_count() - missing;
  }

  Scheme& scheme_;
  const DelaySource& delays_;
  const RoundGame& game_;
  Arrivals arrivals_;
  WorkerSet missing_;
  std::vector<double> loads_;
  std::vector<double> took_;
  Round round_{0};
  Seconds now_{0};
  long long stragglers_ = 0;
  SimulationResult result_;
};

}  // namespace

std::optional<SimulationResult> play_rounds(Scheme& scheme,
                                            const DelaySource& delays,
                                            const RoundGame& game) {
  PACELINE_CHECK(scheme.timeless() && scheme.info().workers == delays.workers());
  return RoundPlayer(scheme, delays, game).play();
}

}  // namespace paceline
