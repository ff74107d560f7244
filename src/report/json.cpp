#include "report/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/heat_map.hpp"
#include "report/page.hpp"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

// Rounded, so that a number is as short as its meaning; what is not finite has no JSON form.
Json number(double value, double steps_per_unit) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * steps_per_unit) / steps_per_unit;
}

Json seconds(double value) { return number(value, 1e6); }

Json seconds(Seconds value) { return seconds(value.count()); }

Json plain(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Five significant digits: more than a plot shows.
Json short_number(double value) {
  if (value == 0 || !std::isfinite(value)) return plain(value);
  return number(value, std::pow(10, 4 - std::floor(std::log10(std::abs(value)))));
}

template <class T>
Json optional_plain(const std::optional<T>& value) {
  return value ? plain(*value) : Json(nullptr);
}

Json optional_seconds(const std::optional<Seconds>& value) {
  return value ? seconds(*value) : Json(nullptr);
}

Json ids(const WorkerSet& set) {
  Json list = Json::array();
  for (int i = 0; i < set.workers(); ++i) {
    if (set.contains(WorkerId{i})) list.push_back(i);
  }
  return list;
}

Json ids(const std::vector<JobId>& jobs) {
  Json list = Json::array();
  for (const JobId job : jobs) list.push_back(job.value);
  return list;
}

// Bytes that are no UTF-8 (a name from the command line) become U+FFFD instead of an exception.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json round_json(const RoundSummary& round) {
  Json response = Json::array();
  for (const float time : round.response) response.push_back(seconds(double{time}));
  return {{"round", round.round.value},
          {"opened", seconds(round.opened)},
          {"closed", seconds(round.closed)},
          {"busy", round.busy},
          {"waited_out", round.waited_out},
          {"stragglers", ids(round.stragglers)},
          {"decoded", ids(round.decoded)},
          {"response", std::move(response)}};
}

Json loss_json(const std::vector<LossPoint>& points) {
  Json list = Json::array();
  for (const LossPoint& point : points) {
    list.push_back(
        {{"time", seconds(point.time)}, {"job", point.job.value}, {"loss", plain(point.loss)}});
  }
  return list;
}

Json scheme_json(const RunReport& report, const SchemeRun& run) {
  Json rounds = Json::array();
  for (const RoundSummary& round : run.history) rounds.push_back(round_json(round));
  Json losses = Json::array();
  for (const std::vector<LossPoint>& points : run.loss) losses.push_back(loss_json(points));
  return {{"label", run.label},
          {"load", plain(run.load)},
          {"decode_delay", run.decode_delay},
          {"jobs_per_round", run.jobs_per_round},
          {"jobs", run.jobs},
          {"rounds", run.rounds},
          {"wait_outs", run.wait_outs},
          {"seconds", seconds(run.total)},
          {"seconds_per_job", plain(run.seconds_per_job())},
          {"speed_up", optional_plain(report.speed_up(run))},
          {"predicted_seconds", optional_seconds(run.predicted)},
          {"limit_seconds", optional_seconds(run.limit)},
          {"time_won_seconds", optional_seconds(run.time_won)},
          {"mean_stragglers", plain(run.mean_stragglers)},
          {"mean_residual", optional_plain(run.mean_residual)},
          {"skipped", run.skipped},
          {"worst_verify_error", optional_plain(run.worst_verify_error)},
          {"verified", run.verified},
          {"accuracy", run.accuracy},
          {"mean_accuracy", optional_plain(run.mean_accuracy())},
          {"ensemble_accuracy", optional_plain(run.ensemble_accuracy)},
          {"overruns", run.overruns},
          {"bytes_per_round", plain(run.bytes_per_round)},
          {"loss", std::move(losses)},
          {"history", std::move(rounds)}};
}

// Columns instead of objects: names are not repeated for every point.
Json loss_columns(const std::vector<LossPoint>& points) {
  Json time = Json::array();
  Json job = Json::array();
  Json loss = Json::array();
  for (const LossPoint& point : points) {
    if (!std::isfinite(point.loss)) continue;
    time.push_back(number(point.time.count(), 1e5));
    job.push_back(point.job.value);
    loss.push_back(short_number(point.loss));
  }
  return {{"time", std::move(time)}, {"job", std::move(job)}, {"loss", std::move(loss)}};
}

Json scheme_chart(const RunReport& report, const SchemeRun& run) {
  Json round = Json::array();
  Json opened = Json::array();
  Json closed = Json::array();
  Json waited_out = Json::array();
  for (std::size_t i = 0; i < run.history.size(); ++i) {
    round.push_back(run.history[i].round.value);
    opened.push_back(number(run.history[i].opened.count(), 1e5));
    closed.push_back(number(run.history[i].closed.count(), 1e5));
    if (run.history[i].waited_out) waited_out.push_back(i);
  }
  Json losses = Json::array();
  for (const std::vector<LossPoint>& points : run.loss) losses.push_back(loss_columns(points));
  PackedTimes times = pack_times(run.history);
  return {{"label", run.label},
          {"seconds", seconds(run.total)},
          {"speedUp", optional_plain(report.speed_up(run))},
          {"predicted", optional_seconds(run.predicted)},
          {"limit", optional_seconds(run.limit)},
          {"workers", times.workers},
          {"low", times.low},
          {"high", times.high},
          {"cells", std::move(times.cells)},
          {"round", std::move(round)},
          {"opened", std::move(opened)},
          {"closed", std::move(closed)},
          {"waitedOut", std::move(waited_out)},
          {"loss", std::move(losses)}};
}

}  // namespace

std::string metrics_line(std::string_view scheme,
                         const RoundRecord& record,
                         std::span<const JobLoss> losses) {
  Json list = Json::array();
  for (const JobLoss& loss : losses) {
    list.push_back(
        {{"job", loss.job.value}, {"model", loss.model.value}, {"loss", plain(loss.loss)}});
    constexpr double kRounding = 1e-12;
    if (loss.residual > kRounding) list.back()["residual"] = plain(loss.residual);
    if (loss.skipped) list.back()["skipped"] = true;
  }
  return dump({{"scheme", scheme},
               {"round", record.round.value},
               {"opened", seconds(record.opened)},
               {"closed", seconds(record.closed)},
               {"busy", record.busy},
               {"stragglers", ids(record.stragglers)},
               {"decoded", ids(record.decoded)},
               {"losses", std::move(list)},
               {"waited_out", record.waited_out}});
}

std::string quoted(std::string_view text) { return dump(text); }

std::string event_line(Round round, WorkerId worker, std::string_view what) {
  return dump(
      {{"event", "fault"}, {"round", round.value}, {"worker", worker.value}, {"what", what}});
}

std::string to_json(const RunReport& report) {
  Json settings = Json::array();
  for (const Setting& setting : report.configuration) {
    settings.push_back(
        {{"key", setting.key}, {"value", setting.value}, {"origin", setting.origin}});
  }
  Json schemes = Json::array();
  for (const SchemeRun& run : report.schemes) schemes.push_back(scheme_json(report, run));
  return dump({{"format", kReportFormat},
               {"kind", report.kind},
               {"title", report.title},
               {"command", report.command},
               {"date", report.date},
               {"machine", report.machine},
               {"configuration", std::move(settings)},
               {"models", report.models},
               {"schemes", std::move(schemes)}});
}

std::string chart_data(const RunReport& report) {
  Json schemes = Json::array();
  for (const SchemeRun& run : report.schemes) schemes.push_back(scheme_chart(report, run));
  const std::string json = dump({{"models", report.models}, {"schemes", std::move(schemes)}});
  return script_safe(json);
}

}  // namespace paceline
