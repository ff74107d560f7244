// How far a round of relay is: which units are done, and whether the round may close or needs help.
//
// It is asked after every answer and given all answers each time. Between two questions as a rule
// one worker has answered, and only what that worker has done is looked at. Finding the worker is a
// comparison of memory, all that is left of n looks at n workers: 4,000 of them take a quarter of a
// microsecond.
#pragma once

#include <vector>

#include "paceline/scheme.hpp"
#include "schemes/relay_learn.hpp"

namespace paceline::relay {

class RoundProgress {
 public:
  /// What was known is to be found out again: the round is another one, or has other work.
  void forget() { known_ = false; }

  /// Takes in the answers that have come since. @pre `record` is the same since forget()
  void follow(const Record& record, const Answers& answers);

  /// A unit is done by an answer to an earlier round.
  void settle(const RoundWork& work, int unit) {
    if (known_) mark(work, unit);
  }

  /// The first worker that has not answered its first order; n if all have.
  std::size_t first_missing(const Record& record) {
    while (missing_ < seen_.size() && seen_[missing_] >= record.ordered[missing_]) ++missing_;
    return missing_;
  }

  /// By unit: done before the round, or answered in it.
  const std::vector<char>& done() const { return done_; }

  bool may_close(const Setting& setting, const RoundWork& work) const {
    return open_due_ == 0 && open_others_ <= most_open(setting, work);
  }

  /// Half of the busy workers have answered, or the last answer took four times as long as the
  /// first (which stands for the half that may never come).
  bool time_to_rescue(const RoundWork& work) const {
    return answered_ > 0 && (2 * answered_ >= work.busy || last_ >= 4 * first_);
  }

 private:
  void start(const Record& record, const Answers& answers);
  void answer(const Record& record, const Answers& answers, std::size_t worker);
  void mark(const RoundWork& work, int unit);

  bool known_ = false;
  std::vector<int> seen_;  ///< by worker: Answers::done as it was
  std::vector<char> done_;
  int open_due_ = 0;
  int open_others_ = 0;      ///< that some worker has
  int answered_ = 0;         ///< workers: their first orders
  std::size_t missing_ = 0;  ///< those before have answered theirs, or have none
  Seconds first_ = kNever;
  Seconds last_{0};
};

}  // namespace paceline::relay
