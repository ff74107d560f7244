#include "paceline/auto_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "paceline/check.hpp"
#include "paceline/compare.hpp"

namespace paceline {
namespace {

constexpr int kResamples = 6;
constexpr double kNotWorthIt = 0.01;

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
    const Seconds compute = std::min(answers.compute[i], answers.time[i]);
    delays_.push_back({answers.time[i] - compute, compute / load});
  }
}

Delay ObservedDelays::delay(Round round, WorkerId worker) const {
  return delays_.at(round.index() * static_cast<std::size_t>(workers_) + worker.index());
}

std::vector<std::string> auto_candidates(int workers, int models) {
  std::vector<std::string> texts = {"uncoded"};
  std::vector<int> some;  // stragglers: 1, 2, a sixteenth, an eighth, a quarter of the workers
  for (const int s : {1, 2, workers / 16, workers / 8, workers / 4}) {
    if (s >= 1 && std::ranges::count(some, s) == 0) some.push_back(s);
  }
  const std::string bundle = fmt::format("bundle={}", models);
  if (models > 1) texts.push_back("uncoded:" + bundle);
  for (const int s : some) texts.push_back(fmt::format("gc:s={}", s));
  if (models > 1) {
    for (const int s : some) texts.push_back(fmt::format("gc:s={},{}", s, bundle));
    for (const int s : some) texts.push_back(fmt::format("sr-sgc:B=1,W=2,lambda={}", s));
    for (const int s : some) texts.push_back(fmt::format("m-sgc:B=1,W=2,lambda={}", s));
  }
  // With a setting of its own: one that is found in the run would be found anew at every switch.
  texts.push_back(fmt::format("relay:T={},r0=1", std::min(3, models - 1)));
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
  std::ranges::replace(compared.schemes, std::string("uncoded"), kUncodedAsItIs);
  compared.closes = {options.close};
  compared.jobs = options.jobs;
  compared.max_delay = options.models - 1;
  compared.seeds = kResamples;
  // Workers as the runtime has them.
  compared.play.workers = WorkerKind::kPersistent;
  compared.play.cancel_stragglers = true;
  const auto found = compare(measured, compared, control);
  if (!found) return Unexpected(found.error());
  if (found->schemes.empty()) {
    return Unexpected<Error>({ErrorCode::kInterrupted, "no scheme was played in time"});
  }
  const ComparedScheme& best = simplest_good(found->schemes);
  AutoChoice choice;
  choice.choice = {best.candidate.scheme, best.candidate.close};
  if (choice.choice.scheme == kUncodedAsItIs) choice.choice = AutoScheme::measuring(options.close);
  choice.played = static_cast<int>(found->schemes.size());
  choice.seconds_per_job = best.mean_seconds() / options.jobs;
  choice.seconds_per_round = choice.seconds_per_job * best.info.jobs_per_round;
  choice.uncoded_seconds_per_job = found->schemes.front().mean_seconds() / options.jobs;
  return choice;
}

bool DriftWatch::add(Seconds round) {
  seconds_.push_back(round.count());
  const auto count = static_cast<double>(seconds_.size());
  if (count < window_) return false;
  const double mean = std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / count;
  double squares = 0;
  for (const double value : seconds_) squares += (value - mean) * (value - mean);
  seconds_.clear();
  const double error = std::sqrt(squares / (count - 1) / count);
  return std::abs(mean - predicted_) > kMargin * predicted_ + kStandardErrors * error;
}

AutoScheme::Wish AutoScheme::on_round(const RoundRecord& record,
                                      const SwitchingCoordinator::Segment& segment) {
  jobs_left_ -= static_cast<int>(record.decoded.size());
  if (phase_ == Phase::kMeasuring && segment.choice.scheme == "uncoded") {
    measured_.add(record.answers, segment.info.load);
    if (measured_.rounds() < kMeasuredRounds) return Wish::kNothing;
    phase_ = Phase::kTuning;
    return Wish::kTune;
  }
  if (phase_ == Phase::kWatching && segment.choice == choice_ &&
      watch_.add(record.closed - record.opened) && jobs_left_ > 2 * kMeasuredRounds) {
    phase_ = Phase::kMeasuring;
    measured_ = ObservedDelays(measured_.workers());
    return Wish::kMeasure;
  }
  return Wish::kNothing;
}

void AutoScheme::chosen(const AutoChoice& choice) {
  constexpr int kMostDoublings = 10;
  phase_ = Phase::kWatching;
  choice_ = choice.choice;
  watch_ = DriftWatch(choice.seconds_per_round, kFirstWindow << std::min(tunings_, kMostDoublings));
  ++tunings_;
}

}  // namespace paceline
