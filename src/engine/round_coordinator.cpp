// Plays one scheme with one close policy: opens a round, counts answers, closes it, applies what is
// decoded, goes on.
//
// The scheme plays an endless sequence of jobs; this class leaves out what does not exist. A
// worker's list in the scheme's plan and the list that is really ordered may therefore differ:
// tasks of jobs past the last one are removed (or, when they are charged, kept without a gradient)
// and count as answered with the rest of the list.
#include "paceline/round_coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/cloned.hpp"

namespace paceline {
namespace {

/// An order that has gone out and is neither answered nor stopped.
struct Outstanding {
  Round round;
  int dispatch = 0;
  int done_after = 0;                                 ///< of the scheme's list, once it is answered
  Seconds opened{0};                                  ///< when its round opened
  std::vector<std::pair<MessageId, JobId>> messages;  ///< only if it may answer late
};

class RoundCoordinator final : public Coordinator {
 public:
  RoundCoordinator(std::unique_ptr<Scheme> scheme,
                   std::unique_ptr<ClosePolicy> policy,
                   const RoundOptions& options)
      : scheme_(std::move(scheme)),
        policy_(std::move(policy)),
        options_(options),
        workers_(scheme_->info().workers),
        outstanding_(static_cast<std::size_t>(workers_)),
        started_(static_cast<std::size_t>(options.jobs), false),
        decoded_(static_cast<std::size_t>(options.jobs), false),
        messages_(static_cast<std::size_t>(options.jobs)) {}

  Actions start(Seconds now) override {
    Actions actions;
    if (open_round(now, actions)) advance(now, actions);
    return actions;
  }

  Actions on(const Event& event, Seconds now) override {
    Actions actions;
    if (finished_) return actions;
    if (const auto* arrived = std::get_if<Arrived>(&event)) {
      on_arrived(arrived->result, now, actions);
    } else if (std::get<TimerFired>(event).timer == round_.value) {
      armed_ = kNever;
      advance(now, actions);
    }
    return actions;
  }

  int start_no_more_jobs() override {
    // A running round has started the jobs of its orders; so there is one that is not decoded, or
    // closing this round ends the run.
    const auto last = std::find(started_.rbegin(), started_.rend(), true);
    options_.jobs = static_cast<int>(started_.rend() - last);
    return options_.jobs;
  }

  bool study() override { return !finished_ && scheme_->study(); }

  std::unique_ptr<Coordinator> clone() const override {
    return std::make_unique<RoundCoordinator>(*this);
  }

 private:
  bool exists(JobId job) const { return job.value >= 0 && job.value < options_.jobs; }

  int most_idle_rounds() const { return paceline::most_idle_rounds(scheme_->info()); }

  /// Opens the next round with work; those without cost nothing and are closed on the spot.
  /// @return false if there is none: all jobs are decoded, or the scheme was given up
  bool open_round(Seconds now, Actions& actions) {
    for (int empty = 0; empty < most_idle_rounds(); ++empty) {
      begin_round(now);
      if (send_plan(actions)) return true;
      apply_all(scheme_->close(round_, answers_), actions);
      ++round_.value;
      if (finish_if_done(actions)) return false;
    }
    give_up(fmt::format("{}: no work in {} rounds although {} of {} jobs are not decoded",
                        scheme_->info().label(),
                        most_idle_rounds(),
                        options_.jobs - decoded_count_,
                        options_.jobs),
            actions);
    return false;
  }

  void begin_round(Seconds now) {
    opened_ = now;
    while (options_.study_between_rounds && scheme_->study()) {
    }
    plan_ = scheme_->plan(round_);
    PACELINE_CHECK(static_cast<int>(plan_.per_worker.size()) == workers_);
    answers_ = Answers(workers_);
    started_now_.clear();
    busy_ = 0;
    complete_ = 0;
    fastest_ = kNever;
    armed_ = kNever;
    policy_->open();
  }

  /// Sends the round's orders. @return false, and sends nothing, if no job that exists has work
  bool send_plan(Actions& actions) {
    bool work = false;
    for (const auto& list : plan_.per_worker) {
      for (const MiniTask& task : list) work = work || exists(task.job);
    }
    actions.reserve(actions.size() + plan_.per_worker.size() + 1);  // and an Arm
    for (std::size_t i = 0; i < plan_.per_worker.size(); ++i) {
      const WorkerId worker{static_cast<int>(i)};
      if (!work || !send(worker, 0, 0, actions)) {
        answers_.done[i] = static_cast<int>(plan_.per_worker[i].size());
      } else {
        ++busy_;
      }
    }
    return work;
  }

  /// Sends entries `first` ... of the worker's list, whose rows go with the orders: afterwards only
  /// the list's length counts. @return false if none of them is left
  bool send(WorkerId worker, int first, int dispatch, Actions& actions) {
    const auto& list = plan_.per_worker[worker.index()];
    const auto past = static_cast<int>(list.size());
    if (!scheme_->info().one_by_one) {
      return send_order({worker, round_, dispatch, {}}, first, past, actions);
    }
    double ahead = 0;
    for (int k = first; k < past; ++k) {
      Order order{worker, round_, k, {}};
      if (k > 0) order.ahead = ahead;
      ahead += list[static_cast<std::size_t>(k)].load;
      if (!send_order(std::move(order), k, k + 1, actions)) return false;
    }
    return past > first;
  }

  /// Sends entries `first` ... `past` - 1 as this order, unless none of them is left.
  bool send_order(Order order, int first, int past, Actions& actions) {
    const WorkerId worker = order.worker;
    auto& list = plan_.per_worker[worker.index()];
    const auto count = static_cast<std::size_t>(past - first);
    order.tasks.reserve(count);
    Outstanding out{round_, order.dispatch, past, opened_, {}};
    if (may_answer_late()) out.messages.reserve(count);
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(past); ++k) {
      MiniTask& task = list[k];
      const MessageId id{worker, round_, static_cast<int>(k)};
      if (exists(task.job)) {
        start_job(task.job);
        const int job = task.job.value;
        order.tasks.push_back({id,
                               task.job,
                               ModelId{job % options_.models},
                               Version{job / options_.models},
                               std::move(task.row),
                               task.load});
        if (may_answer_late()) out.messages.emplace_back(id, task.job);
        messages_[task.job.index()].push_back(id);
      } else if (options_.charge_missing_jobs) {
        order.tasks.push_back({id, task.job, ModelId{0}, Version{0}, Row(), task.load});
      }
    }
    if (order.tasks.empty()) return false;
    outstanding_[worker.index()].push_back(std::move(out));
    actions.emplace_back(Send{std::move(order)});
    return true;
  }

  /// Of the running round.
  bool may_answer_late() const {
    return !options_.cancel_stragglers || scheme_->spares_stragglers(round_);
  }

  void start_job(JobId job) {
    if (started_[job.index()]) return;
    const int before = job.value - options_.models;  // the job whose update this one reads
    PACELINE_CHECK(before < 0 || decoded_[static_cast<std::size_t>(before)]);
    PACELINE_CHECK(!decoded_[job.index()]);
    started_[job.index()] = true;
    started_now_.push_back(job);
  }

  void on_arrived(const Result& result, Seconds now, Actions& actions) {
    PACELINE_CHECK(result.worker.value >= 0 && result.worker.value < workers_);
    auto& waiting = outstanding_[result.worker.index()];
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Outstanding& out) {
      return out.round == result.round && out.dispatch == result.dispatch;
    });
    if (found == waiting.end()) return;  // stopped
    const Outstanding out = std::move(*found);
    waiting.erase(found);
    const Seconds took = now - out.opened;
    drop_useless(out, actions);
    if (out.round != round_) {
      apply_all(
          scheme_->late(
              {out.round, result.worker, out.done_after, took, result.compute, result.waited}),
          actions);
      if (!finish_if_done(actions)) after_answer(now, actions);
      return;
    }
    const std::size_t i = result.worker.index();
    answers_.done[i] = out.done_after;
    answers_.time[i] = took;
    answers_.compute[i] += result.compute;
    answers_.waited[i] += result.waited;
    if (out.done_after == static_cast<int>(plan_.per_worker[i].size())) {
      ++complete_;
      fastest_ = std::min(fastest_, took);
    }
    if (scheme_->adds_work()) send_more(actions);
    after_answer(now, actions);
  }

  /// A timer that is due at this very moment comes after all its answers, and then decides.
  void after_answer(Seconds now, Actions& actions) {
    if (now != armed_ || complete_ == busy_) advance(now, actions);
  }

  void send_more(Actions& actions) {
    RoundPlan extra = scheme_->more(round_, answers_);
    for (std::size_t i = 0; i < extra.per_worker.size(); ++i) {
      auto& added = extra.per_worker[i];
      if (added.empty()) continue;
      auto& list = plan_.per_worker[i];
      const int first = static_cast<int>(list.size());
      PACELINE_CHECK(answers_.done[i] == first);  // only workers that are done get more
      std::move(added.begin(), added.end(), std::back_inserter(list));
      const int dispatch = ++dispatches_of(i);
      if (send(WorkerId{static_cast<int>(i)}, first, dispatch, actions)) {
        --complete_;
      } else {
        answers_.done[i] = static_cast<int>(list.size());
      }
    }
  }

  /// Messages that came after their jobs had been decoded, when their Drop had gone out.
  void drop_useless(const Outstanding& out, Actions& actions) {
    Drop drop;
    for (const auto& [id, job] : out.messages) {
      if (decoded_[job.index()]) drop.messages.push_back(id);
    }
    if (!drop.messages.empty()) actions.emplace_back(std::move(drop));
  }

  /// Closes the running round if it is time, then perhaps the next one, and so on.
  void advance(Seconds now, Actions& actions) {
    int unanswered = 0;
    while (is_time(now, actions)) {
      if (complete_ == 0 && ++unanswered > most_idle_rounds()) {
        give_up(fmt::format("{}: {} rounds closed without an answer although {} of {} jobs are not "
                            "decoded",
                            scheme_->info().label(),
                            most_idle_rounds(),
                            options_.jobs - decoded_count_,
                            options_.jobs),
                actions);
        return;
      }
      close_round(now, actions);
      if (finish_if_done(actions) || !open_round(now, actions)) return;
    }
  }

  /// Whether the running round is to be closed now; else arms the timer that the policy asks for.
  bool is_time(Seconds now, Actions& actions) {
    const RoundView view{
        opened_, now, busy_, complete_, fastest_, scheme_.get(), round_, &answers_};
    if (complete_ == busy_ && !view.may_close()) {
      give_up(fmt::format("{}: round {} cannot close although every worker has answered",
                          scheme_->info().label(),
                          round_.value),
              actions);
      return false;
    }
    const Seconds at = complete_ == busy_ ? now : policy_->close_at(view);
    if (at <= now) return true;
    if (at != kNever && at != armed_) {
      armed_ = at;
      actions.emplace_back(Arm{round_.value, at});
    }
    return false;
  }

  void close_round(Seconds now, Actions& actions) {
    RoundRecord record;
    record.round = round_;
    record.opened = opened_;
    record.closed = now;
    record.busy = busy_;
    record.stragglers = stragglers(plan_, answers_);
    record.started = started_now_;
    record.waited_out = policy_->waited_out();
    std::vector<Decoding> decodings = scheme_->close(round_, answers_);
    const bool last = decoded_count_ + complete_jobs(decodings) == options_.jobs;
    if (last) {
      stop_all(actions);
    } else if (options_.cancel_stragglers) {
      stop_stragglers(actions);
    }
    apply_all(std::move(decodings), actions);
    record.decoded = std::exchange(decoded_now_, {});
    record.answers = std::move(answers_);
    actions.emplace_back(std::move(record));
    ++round_.value;
  }

  int complete_jobs(const std::vector<Decoding>& decodings) const {
    int count = 0;
    for (const Decoding& decoding : decodings) {
      count += decoding.complete && exists(decoding.job) ? 1 : 0;
    }
    return count;
  }

  void stop_stragglers(Actions& actions) {
    for (std::size_t i = 0; i < outstanding_.size(); ++i) {
      std::erase_if(outstanding_[i], [&](const Outstanding& out) {
        if (scheme_->spares_stragglers(out.round)) return false;
        actions.emplace_back(Stop{WorkerId{static_cast<int>(i)}, out.round});
        return true;
      });
    }
  }

  void stop_all(Actions& actions) {
    for (std::size_t i = 0; i < outstanding_.size(); ++i) {
      for (const Outstanding& out : outstanding_[i]) {
        actions.emplace_back(Stop{WorkerId{static_cast<int>(i)}, out.round});
      }
      outstanding_[i].clear();
    }
  }

  void apply_all(std::vector<Decoding> decodings, Actions& actions) {
    for (Decoding& decoding : decodings) {
      const JobId job = decoding.job;
      if (!exists(job)) continue;
      PACELINE_CHECK(!decoded_[job.index()]);
      const bool complete = decoding.complete;
      const int update = job.value / options_.models;
      actions.emplace_back(Apply{
          job, ModelId{job.value % options_.models}, Version{update + 1}, std::move(decoding)});
      if (!complete) continue;
      decoded_[job.index()] = true;
      ++decoded_count_;
      decoded_now_.push_back(job);
      actions.emplace_back(Drop{std::move(messages_[job.index()])});
    }
  }

  bool finish_if_done(Actions& actions) {
    if (decoded_count_ < options_.jobs) return false;
    stop_all(actions);
    finished_ = true;
    actions.emplace_back(Finish{});
    return true;
  }

  void give_up(std::string why, Actions& actions) {
    stop_all(actions);
    finished_ = true;
    actions.emplace_back(Finish{std::move(why)});
  }

  int& dispatches_of(std::size_t worker) {
    if (dispatch_round_ != round_) {
      dispatch_round_ = round_;
      dispatches_.assign(static_cast<std::size_t>(workers_), 0);
    }
    return dispatches_[worker];
  }

  Cloned<Scheme> scheme_;
  Cloned<ClosePolicy> policy_;
  RoundOptions options_;
  int workers_;
  std::vector<std::vector<Outstanding>> outstanding_;  ///< by worker, oldest first
  std::vector<bool> started_;
  std::vector<bool> decoded_;
  std::vector<std::vector<MessageId>> messages_;  ///< by job: all that were asked for
  int decoded_count_ = 0;
  std::vector<JobId> decoded_now_;  ///< since the last record
  bool finished_ = false;

  // the running round
  Round round_{0};
  Seconds opened_{0};
  RoundPlan plan_;
  Answers answers_;
  std::vector<JobId> started_now_;
  int busy_ = 0;
  int complete_ = 0;
  Seconds fastest_ = kNever;
  Seconds armed_ = kNever;
  Round dispatch_round_{-1};
  std::vector<int> dispatches_;
};

}  // namespace

int most_idle_rounds(const SchemeInfo& info) {
  return 2 * (info.open_jobs + info.decode_delay) + 8;
}

Expected<void> check_round_options(const SchemeInfo& info, const RoundOptions& options) {
  if (options.jobs < 1)
    return invalid(fmt::format("jobs={} is not allowed; jobs >= 1", options.jobs));
  if (options.models < info.open_jobs) {
    return invalid(
        fmt::format("models={} is too few: {} keeps {} jobs in flight (decode delay {}), and each "
                    "needs a model of "
                    "its own; models >= {}",
                    options.models,
                    info.label(),
                    info.open_jobs,
                    info.decode_delay,
                    info.open_jobs));
  }
  return {};
}

Expected<std::unique_ptr<Coordinator>> make_round_coordinator(std::unique_ptr<Scheme> scheme,
                                                              std::unique_ptr<ClosePolicy> policy,
                                                              const RoundOptions& options) {
  PACELINE_CHECK(scheme != nullptr && policy != nullptr);
  if (auto fine = check_round_options(scheme->info(), options); !fine) {
    return Unexpected(fine.error());
  }
  return std::unique_ptr<Coordinator>(
      std::make_unique<RoundCoordinator>(std::move(scheme), std::move(policy), options));
}

}  // namespace paceline
