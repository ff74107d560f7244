#include "sim/answer_player.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

/// With this answer `done` mini-tasks of the worker's list are answered.
struct KnownAnswer {
  Seconds at{0};
  int worker = 0;
  int done = 0;

  /// As the simulator's queue has it.
  bool operator<(const KnownAnswer& other) const {
    return std::tie(at, worker, done) < std::tie(other.at, other.worker, other.done);
  }
};

class AnswerPlayer {
 public:
  AnswerPlayer(Scheme& scheme, const DelaySource& delays, int jobs)
      : scheme_(scheme), delays_(delays), jobs_(jobs), opening_(scheme.info().workers) {}

  std::optional<SimulationResult> play() {
    const int most_idle = most_idle_rounds(scheme_.info());
    for (int idle = 0; result_.jobs < jobs_; ++round_.value) {
      open();
      Answers answers = opening_;
      if (busy_ > 0 && !find_closing(answers)) return std::nullopt;
      idle = answered_ == 0 ? idle + 1 : 0;
      if (idle > most_idle) return std::nullopt;
      close(answers);
    }
    result_.total = now_;
    if (result_.rounds > 0) {
      result_.mean_stragglers = static_cast<double>(stragglers_) / result_.rounds;
    }
    result_.mean_residual = residuals_ / result_.jobs;
    return result_;
  }

 private:
  bool exists(JobId job) const { return job.value >= 0 && job.value < jobs_; }

  /// Plans the round and lists its answers. Who has no work counts as answered, as in
  /// RoundCoordinator.
  void open() {
    plan_ = scheme_.plan(round_);
    opening_ = Answers(scheme_.info().workers);
    known_.clear();
    busy_ = 0;
    answered_ = 0;
    for (std::size_t i = 0; i < plan_.per_worker.size(); ++i) {
      const auto& list = plan_.per_worker[i];
      if (std::ranges::any_of(list, [&](const MiniTask& task) { return exists(task.job); })) {
        list_answers(static_cast<int>(i), list);
        ++busy_;
      } else {
        opening_.done[i] = static_cast<int>(list.size());
      }
    }
  }

  void list_answers(int worker, const std::vector<MiniTask>& list) {
    const Delay delay = delays_.delay(round_, WorkerId{worker});
    double load = 0;
    for (int k = 0; k < static_cast<int>(list.size()); ++k) {
      const MiniTask& task = list[static_cast<std::size_t>(k)];
      if (exists(task.job)) load += task.load;
      const bool answers = scheme_.info().one_by_one || k + 1 == static_cast<int>(list.size());
      const Seconds at = now_ + delay.at(load);
      if (answers && at < kNever) known_.push_back({at, worker, k + 1});
    }
  }

  /// Sets `answers` to those with which the round closes. @return false if it never may
  bool find_closing(Answers& answers) {
    if (scheme_.may_close(round_, opening_)) return true;
    auto first = known_.begin();  // none before is enough
    auto last = known_.end();     // this one is
    while (first != last) {
      const auto middle = first + (last - first) / 2;
      std::nth_element(first, middle, last);
      take_up_to(middle + 1, answers);
      if (scheme_.may_close(round_, answers)) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    if (last == known_.end()) return false;
    take_up_to(last + 1, answers);
    answered_ = static_cast<int>(last + 1 - known_.begin());
    ended_ = last->at;
    return true;
  }

  /// @pre the answers before `end` come before all others
  void take_up_to(std::vector<KnownAnswer>::const_iterator end, Answers& answers) const {
    answers = opening_;
    for (auto answer = known_.begin(); answer != end; ++answer) {
      const auto i = static_cast<std::size_t>(answer->worker);
      if (answer->done < answers.done[i]) continue;
      answers.done[i] = answer->done;
      answers.time[i] = answer->at - now_;
    }
  }

  void close(const Answers& answers) {
    if (busy_ > 0) {
      if (answered_ > 0) now_ = ended_;
      ++result_.rounds;
      stragglers_ += stragglers(plan_, answers).size();
    }
    for (const Decoding& decoding : scheme_.close(round_, answers)) {
      if (!decoding.complete || !exists(decoding.job)) continue;
      ++result_.jobs;
      residuals_ += decoding.residual;
    }
  }

  Scheme& scheme_;
  const DelaySource& delays_;
  int jobs_;
  SimulationResult result_;
  Seconds now_{0};
  long long stragglers_ = 0;
  double residuals_ = 0;

  // the running round
  Round round_{0};
  RoundPlan plan_;
  Answers opening_;  ///< before anybody has answered
  std::vector<KnownAnswer> known_;
  int busy_ = 0;
  int answered_ = 0;  ///< messages, when it closes
  Seconds ended_{0};
};

}  // namespace

std::optional<SimulationResult> play_by_answers(Scheme& scheme,
                                                const DelaySource& delays,
                                                int jobs) {
  PACELINE_CHECK(scheme.answers_decide() && scheme.info().workers == delays.workers());
  return AnswerPlayer(scheme, delays, jobs).play();
}

}  // namespace paceline
