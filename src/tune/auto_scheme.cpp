#include "paceline/auto_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "paceline/check.hpp"
#include "paceline/compare.hpp"
#include "tune/advice.hpp"

namespace paceline {
namespace {

constexpr int kResamples = 6;

const std::string kUncoded = "uncoded";

/// For compare(), which tunes a scheme that is named alone.
const std::string kUncodedAsItIs = "uncoded:bundle=1";

/// How much longer a takes than b, at least, for all jobs: the paired mean less two standard
/// errors.
double surely_longer(const ComparedScheme& a, const ComparedScheme& b) {
  const auto count = static_cast<double>(a.seconds.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) {
    const double gap = a.seconds[i] - b.seconds[i];
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / count;
  const double variance = std::max(0.0, (squares - count * mean * mean) / (count - 1));
  return mean - 2 * std::sqrt(variance / count);
}

const ComparedScheme& simplest_good(const std::vector<ComparedScheme>& schemes) {
  const auto good = std::ranges::find_if(schemes, [&](const ComparedScheme& scheme) {
    return std::ranges::none_of(schemes, [&](const ComparedScheme& other) {
      return surely_longer(scheme, other) > kNotWorthIt * scheme.mean_seconds();
    });
  });
  if (good != schemes.end()) return *good;
  return *std::ranges::min_element(schemes, {}, &ComparedScheme::mean_seconds);
}

}  // namespace

void ObservedDelays::add(const Answers& answers, double load) {
  PACELINE_CHECK(static_cast<int>(answers.time.size()) == workers_ && load > 0);
  for (std::size_t i = 0; i < answers.time.size(); ++i) {
    PACELINE_CHECK(answers.time[i] != kNever);
    const Seconds took = answers.time[i] - std::min(answers.waited[i], answers.time[i]);
    const Seconds compute = std::min(answers.compute[i], took);
    delays_.push_back({took - compute, compute / load});
  }
}

Delay ObservedDelays::delay(Round round, WorkerId worker) const {
  return delays_.at(round.index() * static_cast<std::size_t>(workers_) + worker.index());
}

SchemeChoice measuring_choice(int workers, int models, const std::string& close) {
  int m = std::min(workers, models);
  while (workers % m != 0) --m;
  return {m > 1 ? fmt::format("uncoded:bundle={}", m) : kUncoded, close};
}

std::vector<std::string> auto_candidates(int workers, int models) {
  std::vector<std::string> texts;
  const auto add_repetition = [&](int m) {
    const std::string bundle = m > 1 ? fmt::format(",bundle={}", m) : "";
    for (const int copies : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      const int groups = workers / m / copies;
      if (groups >= 2) texts.push_back(fmt::format("gc:groups={}{}", groups, bundle));
    }
  };
  texts.emplace_back("uncoded");
  if (models > 1) texts.push_back(fmt::format("uncoded:bundle={}", models));
  add_repetition(1);
  if (models > 1) add_repetition(models);
  texts.emplace_back("gc:s=auto");
  if (models > 1) {
    std::vector<int> some;  // stragglers: 1, 2, a sixteenth, an eighth, a quarter of the workers
    for (const int s : {1, 2, workers / 16, workers / 8, workers / 4}) {
      if (s >= 1 && std::ranges::count(some, s) == 0) some.push_back(s);
    }
    for (const int s : some) texts.push_back(fmt::format("sr-sgc:B=1,W=2,lambda={}", s));
    for (const int s : some) texts.push_back(fmt::format("m-sgc:B=1,W=2,lambda={}", s));
  }
  const int delay = std::min(3, models - 1);
  texts.push_back(fmt::format("relay:T={},r0=1", delay));
  if (models > 1) {
    for (const int r0 : {1, 2}) {
      texts.push_back(fmt::format("relay:T={},r0={},bundle={}", delay, r0, models));
    }
  }
  texts.push_back(fmt::format("relay:T={}", delay));
  std::erase_if(texts, [&](const std::string& text) {
    const auto scheme = make_scheme(text, {.workers = workers});
    return !scheme || (*scheme)->info().open_jobs > models;
  });
  return texts;
}

Expected<AutoChoice> choose_scheme(const DelayTable& measured,
                                   const AutoOptions& options,
                                   const SearchControl& control) {
  CompareOptions compared;
  compared.schemes = auto_candidates(measured.workers(), options.models);
  std::ranges::replace(compared.schemes, kUncoded, kUncodedAsItIs);
  compared.closes = {options.close};
  compared.jobs = options.jobs;
  compared.max_delay = options.models - 1;
  compared.seeds = kResamples;
  compared.shuffle_workers = true;
  compared.play.seed = options.seed;
  compared.play.message_type = options.message_type;
  // Workers as the runtime has them.
  compared.play.workers = WorkerKind::kPersistent;
  compared.play.cancel_stragglers = true;
  const auto found = compare(measured, compared, control);
  if (!found) return Unexpected(found.error());
  if (found->schemes.empty()) {
    return Unexpected<Error>({ErrorCode::kInterrupted, "no scheme was played in time"});
  }
  const ComparedScheme& best = simplest_good(found->schemes);
  // The same rounds up to half of the jobs: what is left is without the start.
  compared.schemes = {best.candidate.scheme};
  compared.jobs = options.jobs / 2;
  const auto half = compare(measured, compared);
  if (!half) return Unexpected(half.error());
  AutoChoice choice;
  choice.choice = {best.candidate.scheme, best.candidate.close};
  if (choice.choice.scheme == kUncodedAsItIs) choice.choice.scheme = kUncoded;
  choice.played = static_cast<int>(found->schemes.size());
  choice.seconds_per_job = (best.mean_seconds() - half->schemes.front().mean_seconds()) /
                           (options.jobs - options.jobs / 2);
  choice.uncoded_seconds_per_job = found->schemes.front().mean_seconds() / options.jobs;
  const auto measuring =
      std::ranges::find(found->schemes,
                        measuring_choice(measured.workers(), options.models, options.close).scheme,
                        [](const ComparedScheme& scheme) { return scheme.candidate.scheme; });
  choice.measuring_seconds_per_job = measuring == found->schemes.end()
                                         ? choice.uncoded_seconds_per_job
                                         : measuring->mean_seconds() / options.jobs;
  return choice;
}

DriftWatch::Verdict DriftWatch::add(Seconds round, int jobs) {
  seconds_.push_back(round.count());
  jobs_.push_back(jobs);
  const auto rounds = static_cast<double>(seconds_.size());
  if (rounds < window_) return Verdict::kNone;
  const double decoded = std::accumulate(jobs_.begin(), jobs_.end(), 0.0);
  if (decoded == 0) return Verdict::kNone;
  // The ratio of two sums, and its error from the rounds' residuals.
  last_ = std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / decoded;
  double squares = 0;
  for (std::size_t r = 0; r < seconds_.size(); ++r) {
    const double residual = seconds_[r] - last_ * jobs_[r];
    squares += residual * residual;
  }
  last_error_ = std::sqrt(squares * rounds / (rounds - 1)) / decoded;
  seconds_.clear();
  jobs_.clear();
  const double allowed = kMargin * expected_ + kStandardErrors * std::hypot(error_, last_error_);
  return std::abs(last_ - expected_) > allowed ? Verdict::kDeparts : Verdict::kAgrees;
}

void DriftWatch::believe() {
  expected_ = last_;
  error_ = last_error_;
}

AutoScheme::Wish AutoScheme::on_round(const RoundRecord& record,
                                      const SwitchingCoordinator::Segment& segment) {
  const int decoded = static_cast<int>(record.decoded.size());
  jobs_left_ -= decoded;
  if (phase_ == Phase::kMeasuring && segment.choice == measuring_) {
    measured_.add(record.answers, segment.info.load);
    measured_time_ += record.closed - record.opened;
    measured_jobs_ += decoded;
    if (measured_.rounds() < kMeasuredRounds) return Wish::kNothing;
    phase_ = Phase::kTuning;
    return Wish::kTune;
  }
  if (phase_ == Phase::kWatching && segment.choice == choice_ &&
      must_measure(watch_.add(record.closed - record.opened, decoded))) {
    phase_ = Phase::kMeasuring;
    measured_ = ObservedDelays(measured_.workers());
    measured_time_ = Seconds{0};
    measured_jobs_ = 0;
    return Wish::kMeasure;
  }
  return Wish::kNothing;
}

bool AutoScheme::must_measure(DriftWatch::Verdict verdict) {
  if (verdict == DriftWatch::Verdict::kAgrees) kept_ = true;
  if (verdict != DriftWatch::Verdict::kDeparts) return false;
  if (kept_) {
    missed_.reset();
  } else {
    const double ratio = watch_.ratio();
    if (missed_ && std::abs(std::log(ratio / *missed_)) < std::log(kSameMiss)) {
      watch_.believe();
      kept_ = true;
      return false;
    }
    missed_ = ratio;
  }
  return jobs_left_ > 2 * std::max(measured_jobs_, kMeasuredRounds);
}

void AutoScheme::chosen(const SchemeChoice& choice, double seconds_per_job) {
  phase_ = Phase::kWatching;
  choice_ = choice;
  watch_ = DriftWatch(seconds_per_job, kWindow);
  kept_ = false;
}

void AutoScheme::found_nothing() {
  chosen(measuring_, measured_time_.count() / std::max(1, measured_jobs_));
}

}  // namespace paceline
