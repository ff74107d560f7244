#include "paceline/straggler_model.hpp"

#include "paceline/check.hpp"

namespace paceline {

StragglerModel StragglerModel::per_round(int workers, int s) { return bursty(workers, 1, 1, s); }

StragglerModel StragglerModel::bursty(int workers, int B, int W, int lambda) {
  PACELINE_CHECK(B >= 1 && B <= W);
  return StragglerModel(Kind::kBursty, workers, B, W, lambda);
}

StragglerModel StragglerModel::arbitrary(int workers, int N, int W, int lambda) {
  PACELINE_CHECK(N >= 0 && N <= W && W >= 1);
  return StragglerModel(Kind::kArbitrary, workers, N, W, lambda);
}

StragglerModel::StragglerModel(Kind kind, int workers, int limit, int window, int lambda)
    : kind_(kind),
      workers_(workers),
      limit_(limit),
      window_(window),
      lambda_(lambda),
      past_(static_cast<std::size_t>(window - 1), WorkerSet(workers)),
      recent_(workers),
      blocked_(kind == Kind::kArbitrary && limit == 0 ? WorkerSet::all(workers)
                                                      : WorkerSet(workers)) {
  PACELINE_CHECK(lambda >= 0);
}

const WorkerSet& StragglerModel::ago(int rounds) const {
  return past_[static_cast<std::size_t>((next_ - rounds + window_ - 1) % (window_ - 1))];
}

void StragglerModel::push(const WorkerSet& stragglers) {
  PACELINE_CHECK(stragglers.workers() == workers_);
  if (window_ == 1) return;  // no memory
  past_[static_cast<std::size_t>(next_)] = stragglers;
  next_ = (next_ + 1) % (window_ - 1);
  recent_.clear();
  blocked_.clear();
  if (kind_ == Kind::kBursty) {
    // Two straggles of one worker are at most B-1 or at least W rounds apart.
    for (int rounds = limit_; rounds < window_; ++rounds) blocked_ |= ago(rounds);
    recent_ = blocked_;
    for (int rounds = 1; rounds < limit_; ++rounds) recent_ |= ago(rounds);
    return;
  }
  for (int rounds = 1; rounds < window_; ++rounds) recent_ |= ago(rounds);
  for (int i = 0; i < workers_; ++i) {
    int count = 0;
    for (int rounds = 1; rounds < window_; ++rounds) count += ago(rounds).contains(WorkerId{i});
    if (count >= limit_) blocked_.insert(WorkerId{i});
  }
}

}  // namespace paceline
