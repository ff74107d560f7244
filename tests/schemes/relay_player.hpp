// Plays relay against given response times, answer by answer, and keeps what happened.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/random.hpp"
#include "paceline/scheme.hpp"
#include "schemes/relay.hpp"
#include "support/scheme_player.hpp"

namespace paceline::test {

inline constexpr double kDead = std::numeric_limits<double>::infinity();

/// An answer takes  base[round][worker] + rate[worker] * load.  A rescue copy takes the next
/// round's base. Workers are stateless.
struct Times {
  std::vector<std::vector<double>> base;  ///< shape (rounds, n), seconds; kDead: never
  std::vector<double> rate;               ///< shape (n), seconds per unit of load
};

/// Random times: bases in 1 ... 2, one in `odds` is up to 20 seconds longer.
inline Times random_times(int rounds, int workers, std::uint64_t odds, RandomStream& random) {
  Times times;
  for (int round = 0; round < rounds; ++round) {
    times.base.emplace_back();
    for (int i = 0; i < workers; ++i) {
      const double tail = random.below(odds) == 0 ? 20 * random.uniform() : 0;
      times.base.back().push_back(1 + random.uniform() + tail);
    }
  }
  for (int i = 0; i < workers; ++i) times.rate.push_back(1 + 9 * random.uniform());
  return times;
}

struct PlayedRound {
  RoundPlan plan;  ///< as planned
  RoundPlan all;   ///< with what was added
  Answers answers;
  double lasted = 0;
  bool closed = false;
  std::vector<Decoding> decoded;  ///< while it ran (by late answers) and at its close
};

class Player {
 public:
  Player(std::unique_ptr<Scheme> scheme, const Times& times)
      : scheme_(std::move(scheme)), times_(times) {}

  Player(const Player& other)
      : rescue(other.rescue),
        scheme_(other.scheme_->clone()),
        times_(other.times_),
        rounds_(other.rounds_),
        pending_(other.pending_),
        opened_(other.opened_),
        now_(other.now_) {}

  bool rescue = true;

  Scheme& scheme() { return *scheme_; }

  const std::vector<PlayedRound>& rounds() const { return rounds_; }

  double total() const { return now_; }

  /// Plays so many rounds more. @return false if a round could not close
  bool play(int count) {
    for (int i = 0; i < count; ++i) {
      if (!play_round()) return false;
    }
    return true;
  }

 private:
  struct Pending {
    double at;
    int worker;
    int round;
    int done;
    double compute;

    bool operator<(const Pending& other) const {  // the earliest on top of the queue
      return at != other.at ? at > other.at : worker > other.worker;
    }
  };

  void send(int worker, int first, int dispatch) {
    const auto& list = rounds_.back().all.per_worker[static_cast<std::size_t>(worker)];
    const int round = static_cast<int>(rounds_.size()) - 1;
    double load = 0;
    for (std::size_t k = static_cast<std::size_t>(first); k < list.size(); ++k)
      load += list[k].load;
    const double compute = times_.rate[static_cast<std::size_t>(worker)] * load;
    const auto row = static_cast<std::size_t>(round + dispatch) % times_.base.size();
    const double base = times_.base[row][static_cast<std::size_t>(worker)];
    if (base == kDead) return;
    pending_.push({now_ + (base + compute), worker, round, static_cast<int>(list.size()), compute});
  }

  void keep(std::vector<Decoding> decoded) {
    std::move(decoded.begin(), decoded.end(), std::back_inserter(rounds_.back().decoded));
  }

  bool play_round() {
    const Round round{static_cast<int>(rounds_.size())};
    opened_.push_back(now_);
    rounds_.emplace_back();
    PlayedRound& played = rounds_.back();
    while (scheme_->study()) {
    }
    played.plan = scheme_->plan(round);
    played.all = played.plan;
    const int n = scheme_->info().workers;
    played.answers = Answers(n);
    for (int i = 0; i < n; ++i) {
      if (!played.plan.per_worker[static_cast<std::size_t>(i)].empty()) send(i, 0, 0);
    }
    while (!scheme_->may_close(round, played.answers)) {
      if (pending_.empty()) return false;
      const Pending event = pending_.top();
      pending_.pop();
      now_ = event.at;
      const auto i = static_cast<std::size_t>(event.worker);
      const Seconds took(now_ - opened_[static_cast<std::size_t>(event.round)]);
      if (event.round != round.value) {
        keep(scheme_->late({Round{event.round},
                            WorkerId{event.worker},
                            event.done,
                            took,
                            Seconds(event.compute),
                            Seconds{0}}));
        continue;
      }
      played.answers.done[i] = event.done;
      played.answers.time[i] = took;
      played.answers.compute[i] += Seconds(event.compute);
      if (rescue) add(scheme_->more(round, played.answers));
    }
    keep(scheme_->close(round, played.answers));
    played.lasted = now_ - opened_.back();
    played.closed = true;
    return true;
  }

  void add(const RoundPlan& extra) {
    for (std::size_t i = 0; i < extra.per_worker.size(); ++i) {
      if (extra.per_worker[i].empty()) continue;
      auto& list = rounds_.back().all.per_worker[i];
      const int first = static_cast<int>(list.size());
      list.insert(list.end(), extra.per_worker[i].begin(), extra.per_worker[i].end());
      send(static_cast<int>(i), first, 1);
    }
  }

  std::unique_ptr<Scheme> scheme_;
  Times times_;
  std::vector<PlayedRound> rounds_;
  std::priority_queue<Pending> pending_;
  std::vector<double> opened_;
  double now_ = 0;
};

inline Expected<std::unique_ptr<Scheme>> try_relay(const std::string& text,
                                                   int workers,
                                                   int jobs = kEndless) {
  auto parameters = ParameterText::parse(text);
  if (!parameters) return Unexpected<Error>(parameters.error());
  SchemeContext context;
  context.workers = workers;
  context.jobs = jobs;
  return relay_entry().make(*parameters, context);
}

/// @pre the text is right
inline std::unique_ptr<Scheme> relay_of(const std::string& text, int workers, int jobs = kEndless) {
  auto made = try_relay(text, workers, jobs);
  PACELINE_CHECK(made.has_value());
  return std::move(*made);
}

}  // namespace paceline::test
