#include "train_auto.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace paceline::app {
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

}  // namespace

AutoPilot::AutoPilot(SwitchingCoordinator& switching,
                     const AutoOptions& options,
                     int workers,
                     int jobs)
    : switching_(switching), options_(options), auto_(workers, jobs) {}

AutoPilot::~AutoPilot() {
  stop_ = true;
  if (searching_.valid()) searching_.wait();
}

std::optional<std::string> AutoPilot::on_round(const RoundRecord& record) {
  using namespace std::chrono_literals;
  if (searching_.valid() && searching_.wait_for(0s) == std::future_status::ready) {
    const Expected<AutoChoice> found = searching_.get();
    if (!found) {
      return fmt::format("round {}: stays uncoded: {}", record.round.value, found.error().message);
    }
    return take_choice(*found, record.round);
  }
  switch (auto_.on_round(record, switching_.segment_of(record.round))) {
    case AutoScheme::Wish::kTune:
      stop_ = false;
      searching_ = std::async(std::launch::async,
                              [this, measured = auto_.measured()] { return search(measured); });
      break;
    case AutoScheme::Wish::kMeasure:
      switching_.switch_to(AutoScheme::measuring(options_.close)).value();
      return fmt::format("round {}: rounds do not take what was predicted: measures again, uncoded",
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
  if (change) switching_.switch_to(choice.choice).value();
  auto_.chosen(choice);
  return fmt::format(
      "round {}: {} {}: {:.4g} s per job predicted, {:.4g} uncoded ({} schemes played on the last "
      "{} "
      "rounds measured)",
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

}  // namespace paceline::app
