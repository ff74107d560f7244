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
      recent_(static_cast<std::size_t>(workers), 0),
      blocked_(static_cast<std::size_t>(workers), kind == Kind::kArbitrary && limit == 0 ? 1 : 0) {
  PACELINE_CHECK(lambda >= 0);
}

int StragglerModel::straggles_ago(int worker, int least, int most) const {
  int count = 0;
  for (int ago = least; ago <= most; ++ago) {
    const int slot = (next_ - ago + window_ - 1) % (window_ - 1);
    count += past_[static_cast<std::size_t>(slot)].contains(WorkerId{worker}) ? 1 : 0;
  }
  return count;
}

void StragglerModel::push(const WorkerSet& stragglers) {
  PACELINE_CHECK(stragglers.workers() == workers_);
  if (window_ == 1) return;  // no memory
  past_[static_cast<std::size_t>(next_)] = stragglers;
  next_ = (next_ + 1) % (window_ - 1);
  distinct_ = 0;
  for (int i = 0; i < workers_; ++i) {
    const auto index = static_cast<std::size_t>(i);
    recent_[index] = straggles_ago(i, 1, window_ - 1);
    distinct_ += recent_[index] > 0 ? 1 : 0;
    // Bursty: two straggles of one worker are at most B-1 or at least W rounds apart.
    const bool blocked = kind_ == Kind::kBursty
                             ? recent_[index] > 0 && straggles_ago(i, limit_, window_ - 1) > 0
                             : recent_[index] >= limit_;
    blocked_[index] = blocked ? 1 : 0;
  }
}

}  // namespace paceline
