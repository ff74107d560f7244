// The state as JSON. It is put together here rather than by the JSON library, which takes longer to
// compile than all of this layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "paceline/dashboard.hpp"
#include "report/json.hpp"

namespace paceline {
namespace {

constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string json_number(const std::optional<Seconds>& value) {
  return value ? json_number(value->count()) : "null";
}

/// [one(item), ...]
template <class List, class One>
std::string json_list(const List& list, const One& one) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ',';
    out += one(item);
  }
  return out + ']';
}

/// Three characters, six bits each: a level of 0 ... 4095, then the share of rounds that the worker
/// straggled, 0 ... 63. Level 0: no answer; else a step of 0.62 % from 1 us to 1e5 s.
void append_cell(std::string& out, const Mean& response, int straggled, int rounds) {
  constexpr double kLeast = 1e-6;
  constexpr double kDecades = 11;
  constexpr int kMost = 4095;
  int level = 0;
  if (response.count > 0) {
    const double steps =
        std::log10(std::max(double{response.value}, kLeast) / kLeast) / kDecades * (kMost - 1);
    level = 1 + std::min(kMost - 1, static_cast<int>(std::lround(steps)));
  }
  const auto share = static_cast<std::size_t>(std::lround(63.0 * straggled / rounds));
  out += kDigits64[static_cast<std::size_t>(level / 64)];
  out += kDigits64[static_cast<std::size_t>(level % 64)];
  out += kDigits64[share];
}

/// Column after column, worker after worker.
std::string cells_of(const std::vector<LiveColumn>& columns) {
  std::string out;
  if (!columns.empty()) out.reserve(3 * columns.size() * columns.front().response.size());
  for (const LiveColumn& column : columns) {
    for (std::size_t i = 0; i < column.response.size(); ++i) {
      append_cell(out, column.response[i], column.straggled[i], column.rounds);
    }
  }
  return out;
}

std::string columns_json(const std::vector<LiveColumn>& columns, std::size_t models) {
  const auto each = [&columns](const auto& value) {
    return json_list(columns, [&value](const LiveColumn& column) { return value(column); });
  };
  std::string loss = "[";
  for (std::size_t m = 0; m < models; ++m) {
    if (m > 0) loss += ',';
    loss += each([m](const LiveColumn& column) {
      return column.loss[m].count > 0 ? json_number(column.loss[m].value) : "null";
    });
  }
  loss += ']';
  return fmt::format(
      R"({{"round":{},"rounds":{},"seconds":{},"stragglers":{},"closed":{},"jobs":{},"slowest":{},)"
      R"("limit":{},"loss":{},"cells":"{}"}})",
      each([](const LiveColumn& column) { return fmt::to_string(column.round); }),
      each([](const LiveColumn& column) { return fmt::to_string(column.rounds); }),
      each([](const LiveColumn& column) { return json_number(column.seconds.value); }),
      each([](const LiveColumn& column) {
        return json_number(static_cast<double>(column.stragglers) / column.rounds);
      }),
      each([](const LiveColumn& column) { return json_number(column.closed.count()); }),
      each([](const LiveColumn& column) { return fmt::to_string(column.jobs); }),
      each([](const LiveColumn& column) { return json_number(column.slowest); }),
      each([](const LiveColumn& column) { return json_number(column.limit); }),
      loss,
      cells_of(columns));
}

std::string workers_json(const std::vector<WorkerScore>& workers) {
  const auto each = [&workers](double (*value)(const WorkerScore&)) {
    return json_list(workers,
                     [value](const WorkerScore& worker) { return json_number(value(worker)); });
  };
  return fmt::format(
      R"({{"seconds":{},"relative":{},"individual":{},"straggled":{}}})",
      each([](const WorkerScore& worker) { return worker.seconds; }),
      each([](const WorkerScore& worker) { return worker.relative; }),
      each([](const WorkerScore& worker) { return worker.individual; }),
      each([](const WorkerScore& worker) {
        return worker.worked > 0 ? static_cast<double>(worker.straggled) / worker.worked : 0;
      }));
}

std::string scheme_json(const EndedScheme& scheme) {
  return fmt::format(
      R"({{"label":{},"whole":{},"jobs":{},"rounds":{},"elapsed":{},"slowest":{},"limit":{}}})",
      quoted(scheme.label),
      scheme.whole,
      scheme.jobs,
      scheme.rounds,
      json_number(scheme.elapsed.count()),
      json_number(scheme.slowest),
      json_number(scheme.limit));
}

}  // namespace

std::string live_json(const LiveView& view) {
  const LiveRun& run = view.run;
  const LiveScheme& scheme = view.scheme;
  const LiveColumn& newest = view.newest_round;
  std::string out = fmt::format(
      R"({{"run":{{"id":{},"title":{},"command":{},"directory":{},"workers":{},"models":{}}},)",
      quoted(run.id),
      quoted(run.title),
      quoted(run.command),
      quoted(run.directory),
      run.workers,
      json_list(run.models, [](const std::string& name) { return quoted(name); }));
  out += fmt::format(
      R"("scheme":{{"number":{},"schemes":{},"label":{},"playing":{},"ended":{},"jobs":{},)"
      R"("predicted":{},"limit":{}}},)",
      scheme.number,
      scheme.schemes,
      quoted(scheme.label),
      quoted(view.playing),
      view.ended,
      scheme.jobs,
      json_number(scheme.predicted),
      json_number(scheme.limit));
  out += fmt::format(
      R"("now":{{"round":{},"rounds":{},"jobs":{},"elapsed":{},"left":{},"roundSeconds":{},)"
      R"("stragglers":{},"meanStragglers":{},"waitOuts":{},"slowest":{},"limit":{}}},)",
      newest.round,
      view.rounds,
      view.jobs,
      json_number(newest.closed.count()),
      json_number(view.left()),
      json_number(newest.seconds.value),
      newest.stragglers,
      json_number(view.rounds > 0 ? static_cast<double>(view.stragglers) / view.rounds : 0),
      view.wait_outs,
      json_number(newest.slowest),
      json_number(newest.limit));
  out += fmt::format(R"("workers":{},"before":{},)",
                     workers_json(view.workers),
                     json_list(view.before, scheme_json));
  out += fmt::format(R"("anew":{},"stride":{},"firstColumn":{},"columns":{},"newest":{}}})",
                     view.anew,
                     view.stride,
                     view.first_column,
                     columns_json(view.columns, run.models.size()),
                     columns_json(view.newest, 0));
  return out;
}

}  // namespace paceline
