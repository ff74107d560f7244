// The schemes' own coordinators count jobs and rounds from 0; what they say is shifted by the first
// job and the first round of their segment. Job t is update t div M of model t mod M throughout.
#include "paceline/switching_coordinator.hpp"

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/chunks.hpp"
#include "paceline/close_policy.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline {
namespace {

struct Made {
  SchemeInfo info;
  std::unique_ptr<Coordinator> coordinator;
};

Expected<Made> make_segment(const SchemeChoice& choice, const SwitchOptions& options, int jobs) {
  auto policy = make_close_policy(choice.close);
  if (!policy) return Unexpected(policy.error());
  auto scheme = make_scheme(choice.scheme,
                            {.workers = options.workers,
                             .jobs = jobs,
                             .rule = (*policy)->rule(),
                             .seed = options.seed,
                             .stops_stragglers = options.cancel_stragglers,
                             .message_type = options.message_type});
  if (!scheme) return Unexpected(scheme.error());
  Made made{(*scheme)->info(), nullptr};
  PACELINE_CHECK(SwitchingCoordinator::kParts % made.info.shape.parts == 0);
  auto coordinator = make_round_coordinator(std::move(*scheme),
                                            std::move(*policy),
                                            {.jobs = jobs,
                                             .models = options.models,
                                             .cancel_stragglers = options.cancel_stragglers,
                                             .study_between_rounds = options.study_between_rounds});
  if (!coordinator) return Unexpected(coordinator.error());
  made.coordinator = std::move(*coordinator);
  return made;
}

}  // namespace

Expected<std::unique_ptr<SwitchingCoordinator>> SwitchingCoordinator::make(
    const SchemeChoice& first, const SwitchOptions& options) {
  std::unique_ptr<SwitchingCoordinator> made(new SwitchingCoordinator(options));
  if (auto begun = made->begin(first, Round{0}, JobId{0}); !begun) return Unexpected(begun.error());
  return made;
}

std::vector<double> SwitchingCoordinator::chunk_size() const {
  return std::vector<double>(static_cast<std::size_t>(options_.batch_size),
                             1.0 / options_.batch_size);
}

Expected<void> SwitchingCoordinator::switch_to(const SchemeChoice& next) {
  if (auto playable = make_segment(next, options_, options_.jobs); !playable) {
    return Unexpected(playable.error());
  }
  next_ = next;
  return {};
}

const SwitchingCoordinator::Segment& SwitchingCoordinator::segment_of(Round round) const {
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), round, [](Round r, const Segment& segment) {
        return r < segment.first_round;
      });
  return *std::prev(after);
}

Expected<void> SwitchingCoordinator::begin(const SchemeChoice& choice,
                                           Round first_round,
                                           JobId first_job) {
  auto made = make_segment(choice, options_, options_.jobs - first_job.value);
  if (!made) return Unexpected(made.error());
  borders_ = chunk_borders(options_.batch_size, made->info.chunk_size);
  segments_.push_back({choice, std::move(made->info), first_round, first_job});
  inner_ = Cloned<Coordinator>(std::move(made->coordinator));
  end_job_ = options_.jobs;
  draining_ = false;
  return {};
}

Actions SwitchingCoordinator::start(Seconds now) {
  Actions out;
  pass_on(inner_->start(now), now, out);
  return out;
}

Actions SwitchingCoordinator::on(const Event& event, Seconds now) {
  if (next_ && !draining_) {
    draining_ = true;
    end_job_ = segments_.back().first_job.value + inner_->start_no_more_jobs();
  }
  // Events of an earlier segment are over: its orders were stopped, its timers mean nothing.
  Event own = event;
  const int first = segments_.back().first_round.value;
  if (auto* arrived = std::get_if<Arrived>(&own)) {
    arrived->result.round.value -= first;
    if (arrived->result.round.value < 0) return {};
  } else {
    auto& timer = std::get<TimerFired>(own).timer;
    timer -= first;
    if (timer < 0) return {};
  }
  Actions out;
  pass_on(inner_->on(own, now), now, out);
  return out;
}

void SwitchingCoordinator::pass_on(Actions actions, Seconds now, Actions& out) {
  for (Action& action : actions) {
    if (auto* send = std::get_if<Send>(&action)) {
      send->order = translated(std::move(send->order));
    } else if (auto* stop = std::get_if<Stop>(&action)) {
      stop->round = translated(stop->round);
    } else if (auto* arm = std::get_if<Arm>(&action)) {
      arm->timer += segments_.back().first_round.value;
    } else if (auto* apply = std::get_if<Apply>(&action)) {
      apply->job = apply->sum.job = translated(apply->job);
      apply->model = ModelId{apply->job.value % options_.models};
      apply->makes = Version{apply->job.value / options_.models + 1};
      for (Coefficient& term : apply->sum.terms) {
        term.message.round = translated(term.message.round);
      }
    } else if (auto* drop = std::get_if<Drop>(&action)) {
      for (MessageId& id : drop->messages) id.round = translated(id.round);
    } else if (auto* record = std::get_if<RoundRecord>(&action)) {
      record->round = translated(record->round);
      for (JobId& job : record->started) job = translated(job);
      for (JobId& job : record->decoded) job = translated(job);
    } else if (std::get<Finish>(action).why.empty() && end_job_ < options_.jobs) {
      const SchemeChoice next = *std::exchange(next_, std::nullopt);
      if (auto begun = begin(next, Round{last_round_.value + 1}, JobId{end_job_}); !begun) {
        out.emplace_back(Finish{begun.error().message});
        return;
      }
      pass_on(inner_->start(now), now, out);
      return;  // a Finish is the last action
    }
    out.push_back(std::move(action));
  }
}

Order SwitchingCoordinator::translated(Order order) {
  order.round = translated(order.round);
  last_round_ = std::max(last_round_, order.round);
  for (Task& task : order.tasks) {
    task.id.round = order.round;
    task.job = translated(task.job);
    task.model = ModelId{task.job.value % options_.models};
    task.reads = Version{task.job.value / options_.models};
    task.row = in_samples(task.row);
  }
  return order;
}

/// A chunk without samples keeps its term, with weight 0: the message is asked for all the same.
Row SwitchingCoordinator::in_samples(const Row& row) const {
  if (row.terms().empty()) return row;
  std::vector<Term> terms(row.terms().begin(), row.terms().end());
  for (Term& term : terms) {
    const int begin = borders_.at(term.chunk.index());
    const int end = borders_.at(term.chunk.index() + static_cast<std::size_t>(term.count));
    term.chunk = ChunkId{begin < end ? begin : 0};
    term.count = std::max(1, end - begin);
    if (begin == end) term.weight = 0;
  }
  return Row(std::move(terms));
}

JobId SwitchingCoordinator::translated(JobId job) const {
  return JobId{job.value + segments_.back().first_job.value};
}

Round SwitchingCoordinator::translated(Round round) const {
  return Round{round.value + segments_.back().first_round.value};
}

std::unique_ptr<Coordinator> SwitchingCoordinator::clone() const {
  return std::unique_ptr<Coordinator>(new SwitchingCoordinator(*this));
}

}  // namespace paceline
