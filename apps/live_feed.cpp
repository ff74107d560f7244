#include "live_feed.hpp"

#include <utility>

#include "waiting.hpp"

namespace paceline::app {

Expected<std::unique_ptr<Dashboard>> open_dashboard(const std::string& address,
                                                    const LiveState& state) {
  if (address.empty()) return std::unique_ptr<Dashboard>();
  const auto where = parse_dashboard_address(address);
  if (!where) return Unexpected(where.error());
  return Dashboard::open(*where, state);
}

LiveFeed::LiveFeed(LiveState& state, const Plan& plan, const Setup& setup, int number)
    : state_(state), plan_(plan), delays_(setup.delays.source.get()) {
  state.begin({.number = number,
               .schemes = static_cast<int>(setup.plans.size()),
               .label = plan.info.label(),
               .jobs = setup.options.jobs() - plan.first_job,
               .predicted = plan.predicted,
               .limit = plan.limit});
}

void LiveFeed::on_round(const RoundRecord& record,
                        std::span<const JobLoss> losses,
                        const std::string& label) {
  jobs_ += static_cast<int>(losses.size());
  state_.add(record,
             losses,
             label,
             {.slowest = until_slowest(record, plan_.load(), delays_), .limit = limit()});
}

/// The rounds that a clairvoyant would have needed for the jobs decoded so far, each with as many
/// jobs as the scheme starts in one. Not known where that changes from round to round.
std::optional<Seconds> LiveFeed::limit() {
  if (!plan_.limit) return std::nullopt;
  const int each = plan_.info.jobs_per_round;
  for (; (limit_rounds_ + 1) * each <= jobs_; ++limit_rounds_) {
    limit_so_far_ += clairvoyant_round(*delays_, Round{limit_rounds_}, each);
  }
  return limit_so_far_;
}

}  // namespace paceline::app
