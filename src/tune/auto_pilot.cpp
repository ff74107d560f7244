#include "paceline/auto_pilot.hpp"

#include <fmt/format.h>

#include <utility>

namespace paceline {
namespace {

/// Seconds that a search may take; what it has not played by then does not count.
constexpr std::chrono::seconds kBudget{5};

/// Sets a flag when the time is up.
class Deadline {
 public:
  Deadline(std::chrono::seconds budget, std::atomic<bool>& flag)
      : watch_(std::async(std::launch::async, [budget, &flag, done = done_.get_future()] {
          if (done.wait_for(budget) == std::future_status::timeout) flag = true;
        })) {}

  ~Deadline() { done_.set_value(); }

  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::promise<void> done_;
  std::future<void> watch_;
};

/// Jobs of segment k.
int jobs_of(const std::vector<SwitchingCoordinator::Segment>& segments, std::size_t k, int jobs) {
  const int end = k + 1 < segments.size() ? segments[k + 1].first_job.value : jobs;
  return end - segments[k].first_job.value;
}

}  // namespace

AutoPilot::AutoPilot(SwitchingCoordinator& switching,
                     const AutoOptions& options,
                     int workers,
                     int jobs)
    : switching_(switching),
      options_(options),
      jobs_(jobs),
      auto_(workers, jobs, measuring_choice(workers, options.models, options.close)) {}

AutoPilot::~AutoPilot() {
  stop_ = true;
  wait_for_search();
}

void AutoPilot::wait_for_search() const {
  if (searching_.valid()) searching_.wait();
}

std::optional<std::string> AutoPilot::on_round(const RoundRecord& record) {
  using namespace std::chrono_literals;
  const auto wish = auto_.on_round(record, switching_.segment_of(record.round));
  if (searching_.valid() && searching_.wait_for(0s) == std::future_status::ready) {
    const Expected<AutoChoice> found = searching_.get();
    if (found) return take_choice(*found, record.round);
    auto_.found_nothing();
    return fmt::format("round {}: stays uncoded: {}", record.round.value, found.error().message);
  }
  switch (wish) {
    case AutoScheme::Wish::kTune:
      stop_ = false;
      searching_ = std::async(std::launch::async,
                              [this, measured = auto_.measured()] { return search(measured); });
      break;
    case AutoScheme::Wish::kMeasure:
      switching_.switch_to(auto_.measuring()).value();
      return fmt::format("round {}: jobs do not take what was expected: measures again, uncoded",
                         record.round.value);
    case AutoScheme::Wish::kNothing:
      break;
  }
  return std::nullopt;
}

Expected<AutoChoice> AutoPilot::search(const DelayTable& measured) {
  const Deadline deadline(kBudget, stop_);
  // One thread: the others compute gradients.
  return choose_scheme(measured, options_, {.threads = 1, .interrupted = &stop_});
}

std::string AutoPilot::take_choice(const AutoChoice& choice, Round round) {
  const bool change = switching_.segments().back().choice != choice.choice;
  seconds_per_job_.resize(switching_.segments().size() - 1);
  seconds_per_job_.emplace_back(choice.measuring_seconds_per_job);
  if (change) {
    switching_.switch_to(choice.choice).value();
    seconds_per_job_.emplace_back(choice.seconds_per_job);
  }
  auto_.chosen(choice.choice, choice.seconds_per_job);
  return fmt::format(
      "round {}: {} {}: {:.4g} s per job predicted, {:.4g} uncoded ({} schemes played on the last "
      "{} rounds measured)",
      round.value,
      change ? "switches to" : "stays with",
      choice.choice.scheme,
      choice.seconds_per_job,
      choice.uncoded_seconds_per_job,
      choice.played,
      AutoScheme::kMeasuredRounds);
}

std::string AutoPilot::label(Round round) const {
  return "auto: " + switching_.segment_of(round).info.label();
}

std::optional<Seconds> AutoPilot::predicted() const {
  const auto& segments = switching_.segments();
  if (seconds_per_job_.size() < segments.size()) return std::nullopt;
  Seconds total{0};
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (!seconds_per_job_[k]) return std::nullopt;
    total += Seconds(*seconds_per_job_[k] * jobs_of(segments, k, jobs_));
  }
  return total;
}

Seconds clairvoyant_total(const DelaySource& delays,
                          const std::vector<SwitchingCoordinator::Segment>& segments,
                          int jobs) {
  Seconds total{0};
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const int m = segments[k].info.jobs_per_round;
    const int rounds = (jobs_of(segments, k, jobs) + m - 1) / m;
    for (int r = 0; r < rounds; ++r) {
      total += clairvoyant_round(delays, Round{segments[k].first_round.value + r}, m);
    }
  }
  return total;
}

}  // namespace paceline
