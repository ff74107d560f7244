#include "support/scheme_player.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace paceline::test {
namespace {

constexpr double kRounding = 1e-6;

}  // namespace

WorkerSet worker_set(int workers, const std::vector<int>& members) {
  WorkerSet set(workers);
  for (const int member : members) set.insert(WorkerId{member});
  return set;
}

WorkerSet worker_set_from_bits(int workers, unsigned bits) {
  WorkerSet set(workers);
  for (int i = 0; i < workers; ++i) {
    if ((bits >> static_cast<unsigned>(i) & 1U) != 0) set.insert(WorkerId{i});
  }
  return set;
}

bool same_plan(const RoundPlan& a, const RoundPlan& b) {
  const auto same_task = [](const MiniTask& x, const MiniTask& y) {
    return x.job == y.job && x.load == y.load && std::ranges::equal(x.row.terms(), y.row.terms());
  };
  return std::ranges::equal(a.per_worker, b.per_worker, [&](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, same_task);
  });
}

bool same_decodings(const std::vector<Decoding>& a, const std::vector<Decoding>& b) {
  const auto same_term = [](const Coefficient& x, const Coefficient& y) {
    return x.message == y.message && x.weight == y.weight && x.segment == y.segment &&
           x.part == y.part;
  };
  return std::ranges::equal(a, b, [&](const Decoding& x, const Decoding& y) {
    return x.job == y.job && x.complete == y.complete && x.residual == y.residual &&
           x.amplification == y.amplification && std::ranges::equal(x.terms, y.terms, same_term);
  });
}

SchemePlayer::SchemePlayer(std::unique_ptr<Scheme> scheme, int jobs)
    : scheme_(std::move(scheme)), jobs_(jobs), decoded_(static_cast<std::size_t>(jobs), false) {
  begin_round();
}

void SchemePlayer::report(const std::string& problem) {
  if (!problem_.empty()) return;
  std::ostringstream text;
  text << scheme_->info().label() << ", round " << round_.value << ": " << problem;
  problem_ = text.str();
}

void SchemePlayer::begin_round() {
  while (scheme_->study()) {
  }
  plan_ = scheme_->plan(round_);
  answers_ = Answers(scheme_->info().workers);
  check_plan();
  for (std::size_t i = 0; i < plan_.per_worker.size(); ++i) {
    const auto& list = plan_.per_worker[i];
    const bool idle = std::ranges::none_of(list, [&](const auto& t) { return exists(t.job); });
    if (idle) answers_.done[i] = static_cast<int>(list.size());
  }
}

void SchemePlayer::check_plan() {
  const SchemeInfo& info = scheme_->info();
  if (static_cast<int>(plan_.per_worker.size()) != info.workers) report("plan of a wrong size");
  std::set<JobId> open;
  for (const auto& list : plan_.per_worker) {
    double load = 0;
    for (const MiniTask& task : list) {
      load += task.load;
      if (task.job.value >= 0) open.insert(task.job);
      first_round_.emplace(task.job, round_.value);
      if (task.job.value >= 0 && task.job.value < jobs_ && decoded_[task.job.index()] &&
          !task.row.terms().empty()) {
        report("work for a decoded job");
      }
      for (const Term& term : task.row.terms()) {
        const int end = term.chunk.value + term.count;
        if (term.chunk.value < 0 || end > static_cast<int>(info.chunk_size.size())) {
          report("a chunk that does not exist");
        }
      }
    }
    if (!scheme_->adds_work() &&
        !info.self_setting) {  // else info() states them for a round without open work
      if (load > info.load * (1 + 1e-9)) report("more load than info() says");
      if (static_cast<int>(list.size()) > info.messages_per_round) report("too many messages");
    }
    if (!std::ranges::is_sorted(list, {}, &MiniTask::job)) report("a younger job comes first");
  }
  if (static_cast<int>(open.size()) > info.open_jobs) report("more open jobs than info() says");
  if (!open.empty() && open.rbegin()->value >= (round_.value + 1) * info.jobs_per_round) {
    report("a job starts too early");
  }
}

void SchemePlayer::take_answers(WorkerId worker,
                                Round round,
                                const std::vector<MiniTask>& list,
                                int first) {
  for (int task = first; task < static_cast<int>(list.size()); ++task) {
    const MiniTask& work = list[static_cast<std::size_t>(task)];
    if (exists(work.job)) messages_[{worker, round, task}] = {work.job, work.row};
  }
}

void SchemePlayer::answer(WorkerId worker, Seconds took) {
  const auto& list = plan_.per_worker[worker.index()];
  int& done = answers_.done[worker.index()];
  take_answers(worker, round_, list, done);
  done = static_cast<int>(list.size());
  answers_.time[worker.index()] = took;
  answers_.compute[worker.index()] = took / 2;
  answers_.waited[worker.index()] = took / 4;
  if (!scheme_->adds_work()) return;
  RoundPlan extra = scheme_->more(round_, answers_);
  for (std::size_t i = 0; i < extra.per_worker.size(); ++i) {
    auto& whole = plan_.per_worker[i];
    if (!extra.per_worker[i].empty() && answers_.done[i] != static_cast<int>(whole.size())) {
      report("more work for a worker that is not done");
    }
    for (MiniTask& task : extra.per_worker[i]) whole.push_back(std::move(task));
  }
}

void SchemePlayer::answer_all_but(const WorkerSet& stragglers) {
  for (int i = 0; i < stragglers.workers(); ++i) {
    if (!stragglers.contains(WorkerId{i})) answer(WorkerId{i});
  }
}

void SchemePlayer::answer_late(WorkerId worker, Round round) {
  const auto found = unanswered_.find({worker, round});
  if (found == unanswered_.end()) return;
  const int done = static_cast<int>(found->second.size());
  take_answers(worker, round, found->second, 0);
  unanswered_.erase(found);
  apply(scheme_->late({round, worker, done, Seconds{5}, Seconds{1}, Seconds{2}}));
}

std::vector<Decoding> SchemePlayer::close() {
  const WorkerSet missing = this->missing();
  for (int i = 0; i < missing.workers(); ++i) {
    if (missing.contains(WorkerId{i})) {
      unanswered_[{WorkerId{i}, round_}] = plan_.per_worker[static_cast<std::size_t>(i)];
    }
  }
  std::vector<Decoding> decodings = scheme_->close(round_, answers_);
  apply(decodings);
  const SchemeInfo& info = scheme_->info();
  for (int job = 0; job < jobs_; ++job) {
    const auto started = first_round_.find(JobId{job});
    int opened = job / info.jobs_per_round;
    if (info.self_setting) opened = started == first_round_.end() ? kEndless : started->second;
    const bool due = opened <= round_.value - info.decode_delay;
    if (due && !decoded_[static_cast<std::size_t>(job)]) report("a job is late");
  }
  ++round_.value;
  begin_round();
  return decodings;
}

void SchemePlayer::apply(const std::vector<Decoding>& decodings) {
  for (const Decoding& decoding : decodings) {
    if (exists(decoding.job)) apply(decoding);
  }
}

void SchemePlayer::apply(const Decoding& decoding) {
  const SchemeInfo& info = scheme_->info();
  const int P = info.shape.parts;
  const int chunks = static_cast<int>(info.chunk_size.size());
  if (decoded_[decoding.job.index()]) report("a job is decoded twice");
  if (decoding.amplification > info.amplification_limit * (1 + 1e-9)) {
    report("amplification above the limit of info()");
  }
  auto& sum = sums_[decoding.job];
  sum.resize(static_cast<std::size_t>(P * chunks * P), 0.0);
  for (const Coefficient& term : decoding.terms) {
    const auto found = messages_.find(term.message);
    if (found == messages_.end() || found->second.job != decoding.job) {
      report("a message is used that was not answered, or is another job's");
      continue;
    }
    // out[part] += weight message[segment], where message[segment] += weight chunk[part]
    for (int segment = 0; segment < P; ++segment) {
      if (term.segment != kWhole && term.segment != segment) continue;
      const int out = term.part == kWhole ? segment : term.part;
      for (const Term& row : found->second.row.terms()) {
        if (row.segment != kWhole && row.segment != segment) continue;
        const int in = row.part == kWhole ? segment : row.part;
        for (int j = row.chunk.value; j < row.chunk.value + row.count; ++j) {
          sum[static_cast<std::size_t>((out * chunks + j) * P + in)] += term.weight * row.weight;
        }
      }
    }
  }
  if (decoding.complete) check_sum(decoding);
}

/// The chunks count once each; where a decoding says that it leaves a residual, it leaves just
/// that.
void SchemePlayer::check_sum(const Decoding& decoding) {
  constexpr double kExact = 1e-12;
  const JobId job = decoding.job;
  const int P = scheme_->info().shape.parts;
  const int chunks = static_cast<int>(scheme_->info().chunk_size.size());
  const auto& sum = sums_[job];
  const bool exact = decoding.residual <= kExact;
  if (!exact) {
    double squares = 0;  // a part of a chunk counts once in its own place and nowhere else
    for (int at = 0; at < static_cast<int>(sum.size()); ++at) {
      const double wanted = at / (chunks * P) == at % P ? 1 : 0;
      squares += std::pow(sum[static_cast<std::size_t>(at)] - wanted, 2);
    }
    if (std::abs(squares / (chunks * P) - decoding.residual) > kRounding) {
      report("a decoding leaves something else than its residual");
    }
  }
  for (int out = 0; exact && out < P; ++out) {
    for (int j = 0; j < chunks; ++j) {
      for (int in = 0; in < P; ++in) {
        const double expected = out == in ? 1 : 0;
        const double found = sum[static_cast<std::size_t>((out * chunks + j) * P + in)];
        if (std::abs(found - expected) > kRounding) {
          std::ostringstream text;
          text << "job " << job.value << " counts chunk " << j << " " << found << " times";
          report(text.str());
          return;
        }
      }
    }
  }
  sums_.erase(job);
  decoded_[job.index()] = true;
  ++complete_;
}

}  // namespace paceline::test
