#include "paceline/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paceline {
namespace {

constexpr double kLate = 1.1;  // times the predicted time

bool is_uncoded(std::string_view label) { return label.substr(0, label.find(':')) == "uncoded"; }

}  // namespace

RoundSummary summarize(const RoundRecord& record) {
  RoundSummary summary{.round = record.round,
                       .opened = record.opened,
                       .closed = record.closed,
                       .busy = record.busy,
                       .response = {},
                       .stragglers = record.stragglers,
                       .decoded = record.decoded,
                       .waited_out = record.waited_out};
  summary.response.reserve(record.answers.time.size());
  for (const Seconds time : record.answers.time) {
    summary.response.push_back(time == kNever ? std::numeric_limits<float>::quiet_NaN()
                                              : static_cast<float>(time.count()));
  }
  return summary;
}

double SchemeRun::seconds_per_job() const {
  return jobs > 0 ? total.count() / jobs : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> SchemeRun::mean_accuracy() const {
  if (accuracy.empty()) return std::nullopt;
  return std::accumulate(accuracy.begin(), accuracy.end(), 0.0) /
         static_cast<double>(accuracy.size());
}

std::optional<double> RunReport::speed_up(const SchemeRun& run) const {
  for (const SchemeRun& base : schemes) {
    if (!is_uncoded(base.label)) continue;
    const double ratio = base.seconds_per_job() / run.seconds_per_job();
    if (std::isfinite(ratio)) return ratio;
    return std::nullopt;
  }
  return std::nullopt;
}

std::string RunReport::caution() const {
  const auto late = std::count_if(schemes.begin(), schemes.end(), [](const SchemeRun& run) {
    return run.overruns > 0 && run.predicted && run.total > kLate * *run.predicted;
  });
  if (late == 0) return {};
  return fmt::format(
      "{} of {} schemes took over {:.0f} % longer than predicted, because this machine's cores "
      "were "
      "too few or too busy to keep the injected delays: compare the predicted times.",
      late,
      schemes.size(),
      100 * (kLate - 1));
}

}  // namespace paceline
