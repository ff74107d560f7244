// Plays a scheme round by round without a clock, and checks with exact bookkeeping that what it
// says is true: messages are kept as their weights on (chunk, part), so that a decoded job can be
// compared with the sum of all chunks entry by entry.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paceline/cloned.hpp"
#include "paceline/scheme.hpp"

namespace paceline::test {

/// The set of these workers.
WorkerSet worker_set(int workers, const std::vector<int>& members);
/// The workers i whose bit i of `bits` is set.
WorkerSet worker_set_from_bits(int workers, unsigned bits);

bool same_plan(const RoundPlan& a, const RoundPlan& b);
bool same_decodings(const std::vector<Decoding>& a, const std::vector<Decoding>& b);

/// Copyable: a copy plays on by itself. Like a round coordinator it leaves out work of jobs that do
/// not exist: those tasks count as answered with the rest of their list.
class SchemePlayer {
 public:
  SchemePlayer(std::unique_ptr<Scheme> scheme, int jobs);

  Scheme& scheme() { return *scheme_; }

  Round round() const { return round_; }

  const RoundPlan& plan() const { return plan_; }

  const Answers& answers() const { return answers_; }

  /// Worker answers all it has been given in this round, `took` after it opened.
  void answer(WorkerId worker, Seconds took = Seconds{1});
  void answer_all_but(const WorkerSet& stragglers);
  /// An answer to an order of an earlier round that was not answered in time; does nothing else.
  void answer_late(WorkerId worker, Round round);

  bool may_close() const { return scheme_->may_close(round_, answers_); }

  /// Workers that still have something to answer in this round.
  WorkerSet missing() const { return stragglers(plan_, answers_); }

  /// Closes the round, opens the next and returns what the scheme decoded.
  std::vector<Decoding> close();

  /// Jobs that are complete.
  int complete() const { return complete_; }

  bool finished() const { return complete_ == jobs_; }

  /// The first thing that went wrong, or empty: a job that is late, decoded twice or not exactly,
  /// a message used that has not been answered, wrong plans.
  const std::string& problem() const { return problem_; }

 private:
  struct Message {
    JobId job;
    Row row;
  };

  bool exists(JobId job) const { return job.value >= 0 && job.value < jobs_; }

  void begin_round();
  void check_plan();
  void take_answers(WorkerId worker, Round round, const std::vector<MiniTask>& list, int first);
  void apply(const std::vector<Decoding>& decodings);
  void apply(const Decoding& decoding);
  void check_sum(const Decoding& decoding);
  void report(const std::string& problem);

  Cloned<Scheme> scheme_;
  int jobs_;
  Round round_{0};
  RoundPlan plan_;
  Answers answers_{0};
  std::map<MessageId, Message> messages_;
  std::map<std::pair<WorkerId, Round>, std::vector<MiniTask>> unanswered_;
  std::map<JobId, std::vector<double>> sums_;  ///< shape (parts, chunks, parts) each
  std::map<JobId, int> first_round_;           ///< in which a job was planned
  std::vector<bool> decoded_;
  int complete_ = 0;
  std::string problem_;
};

}  // namespace paceline::test
