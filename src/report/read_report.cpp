// A report read back. What is missing or of the wrong type makes the JSON library throw; its words
// become the error's.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "paceline/run_reports.hpp"

namespace paceline {
namespace {

using Members = nlohmann::json;

double number_or_nan(const Members& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::optional<double> if_known(const Members& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}

std::optional<Seconds> seconds_if_known(const Members& value) {
  if (value.is_null()) return std::nullopt;
  return Seconds{value.get<double>()};
}

RoundSummary read_round(const Members& json) {
  RoundSummary round;
  round.round = Round{json.at("round").get<int>()};
  round.opened = Seconds{number_or_nan(json.at("opened"))};
  round.closed = Seconds{number_or_nan(json.at("closed"))};
  round.busy = json.at("busy").get<int>();
  round.waited_out = json.at("waited_out").get<bool>();
  for (const Members& time : json.at("response")) {
    round.response.push_back(static_cast<float>(number_or_nan(time)));
  }
  const int workers = static_cast<int>(round.response.size());
  round.stragglers = WorkerSet(workers);
  for (const Members& worker : json.at("stragglers")) {
    const int number = worker.get<int>();
    if (number < 0 || number >= workers) throw std::out_of_range("a straggler is no worker");
    round.stragglers.insert(WorkerId{number});
  }
  for (const Members& job : json.at("decoded")) round.decoded.push_back(JobId{job.get<int>()});
  return round;
}

SchemeRun read_scheme(const Members& json) {
  SchemeRun run;
  run.label = json.at("label").get<std::string>();
  run.load = number_or_nan(json.at("load"));
  run.decode_delay = json.at("decode_delay").get<int>();
  run.jobs_per_round = json.at("jobs_per_round").get<int>();
  run.jobs = json.at("jobs").get<int>();
  run.rounds = json.at("rounds").get<int>();
  run.wait_outs = json.at("wait_outs").get<int>();
  run.total = Seconds{number_or_nan(json.at("seconds"))};
  run.predicted = seconds_if_known(json.at("predicted_seconds"));
  run.limit = seconds_if_known(json.at("limit_seconds"));
  run.time_won = seconds_if_known(json.at("time_won_seconds"));
  run.mean_stragglers = number_or_nan(json.at("mean_stragglers"));
  run.mean_residual = if_known(json.at("mean_residual"));
  run.skipped = json.at("skipped").get<int>();
  run.worst_verify_error = if_known(json.at("worst_verify_error"));
  run.verified = json.at("verified").get<int>();
  for (const Members& accuracy : json.at("accuracy")) {
    run.accuracy.push_back(number_or_nan(accuracy));
  }
  run.ensemble_accuracy = if_known(json.at("ensemble_accuracy"));
  run.overruns = json.at("overruns").get<int>();
  run.bytes_per_round = number_or_nan(json.at("bytes_per_round"));
  for (const Members& points : json.at("loss")) {
    std::vector<LossPoint>& curve = run.loss.emplace_back();
    for (const Members& point : points) {
      curve.push_back({Seconds{number_or_nan(point.at("time"))},
                       JobId{point.at("job").get<int>()},
                       number_or_nan(point.at("loss"))});
    }
  }
  for (const Members& round : json.at("history")) run.history.push_back(read_round(round));
  for (const RoundSummary& round : run.history) {
    if (round.response.size() != run.history.front().response.size()) {
      throw std::out_of_range("rounds have unlike numbers of workers");
    }
  }
  return run;
}

RunReport read_members(const Members& json) {
  RunReport report;
  report.kind = json.at("kind").get<std::string>();
  report.title = json.at("title").get<std::string>();
  report.command = json.at("command").get<std::string>();
  report.date = json.at("date").get<std::string>();
  report.machine = json.at("machine").get<std::string>();
  for (const Members& setting : json.at("configuration")) {
    report.configuration.push_back({setting.at("key").get<std::string>(),
                                    setting.at("value").get<std::string>(),
                                    setting.at("origin").get<std::string>()});
  }
  for (const Members& model : json.at("models")) report.models.push_back(model.get<std::string>());
  for (const Members& scheme : json.at("schemes")) report.schemes.push_back(read_scheme(scheme));
  return report;
}

/// Without the library's mark in front: "[json.exception.out_of_range.403] key 'x' not found".
std::string plain_words(const std::exception& error) {
  const std::string what = error.what();
  const std::size_t end = what.starts_with('[') ? what.find("] ") : std::string::npos;
  return end == std::string::npos ? what : what.substr(end + 2);
}

/// Why there is no report where one was looked for.
std::string why_missing(const std::filesystem::path& given, bool folder) {
  if (!folder) return given.string() + ": there is no such run";
  if (std::filesystem::exists(given / "metrics.jsonl")) {
    return given.string() +
           ": has no report.json: the run goes on, was killed, or an older paceline wrote it";
  }
  return given.string() + ": is not the folder of a run: it has no report.json";
}

}  // namespace

Expected<RunReport> read_report(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given(path);
  const bool folder = std::filesystem::is_directory(given, ignored);
  const std::string file = folder ? (given / "report.json").string() : path;
  if (!std::filesystem::exists(file, ignored)) return invalid(why_missing(given, folder));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return invalid(file + ": cannot be read");
  const Members json = Members::parse(stream, nullptr, false);
  if (json.is_discarded()) return invalid(file + ": is no whole JSON: half written, or no report");
  if (!json.is_object() || !json.contains("format")) {
    return invalid(file +
                   ": is no report, or of an older paceline: it has no \"format\"; train writes "
                   "report.json, simulate and compare write one with --save");
  }
  if (json["format"] != kReportFormat) {
    return invalid(file + ": has format " + json["format"].dump() + "; this paceline reads " +
                   std::to_string(kReportFormat));
  }
  try {
    return read_members(json);
  } catch (const std::exception& error) {
    return invalid(file + ": is damaged: " + plain_words(error));
  }
}

}  // namespace paceline
