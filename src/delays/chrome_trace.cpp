#include "delays/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "delays/csv_text.hpp"
#include "delays/sample_table.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

struct Interval {
  double begin, end;
};

struct Event {
  std::string round, worker;
  Interval time;
  bool computes;  ///< its name has the wanted part
};

/// A scalar as text, as an identifier; nothing for what is none.
std::optional<std::string> identifier(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return found->dump();
  return std::nullopt;
}

std::optional<double> number(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

bool contains(const Json& event, const std::string& key, const std::string& part) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() &&
         found->get_ref<const std::string&>().find(part) != std::string::npos;
}

/// A complete event of some round; nothing for all others.
std::optional<Event> event_of(const Json& event, const ColumnNames& names) {
  if (!event.is_object() || identifier(event, "ph") != "X") return std::nullopt;
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return std::nullopt;
  const auto round = identifier(*args, names.round);
  const auto process = identifier(event, "pid");
  const auto thread = identifier(event, "tid");
  const auto begin = number(event, "ts");
  const auto duration = number(event, "dur");
  const bool threads = names.worker == "pid/tid";
  if (!round || round->empty() || !process || (threads && !thread) || !begin || !duration) {
    return std::nullopt;
  }
  return Event{*round,
               threads ? *process + "/" + *thread : *process,
               {*begin, *begin + *duration},
               contains(event, "name", names.events) || contains(event, "cat", names.events)};
}

double extent(const std::vector<Interval>& intervals) {
  double begin = intervals.front().begin;
  double end = intervals.front().end;
  for (const Interval& interval : intervals) {
    begin = std::min(begin, interval.begin);
    end = std::max(end, interval.end);
  }
  return end - begin;
}

/// The length of the union.
double busy(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.begin < b.begin;
  });
  double total = 0;
  double until = intervals.front().begin;
  for (const Interval& interval : intervals) {
    total += std::max(0.0, interval.end - std::max(until, interval.begin));
    until = std::max(until, interval.end);
  }
  return total;
}

Expected<void> one_of(const std::string& key,
                      const std::string& value,
                      const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
  return invalid(unknown_name("columns " + key, value, allowed));
}

Expected<ColumnNames> with_defaults(ColumnNames names) {
  if (names.round.empty()) names.round = "step";
  if (names.worker.empty()) names.worker = "pid";
  if (names.seconds.empty()) names.seconds = "extent";
  if (auto ok = one_of("worker", names.worker, {"pid", "pid/tid"}); !ok) {
    return Unexpected(ok.error());
  }
  if (auto ok = one_of("seconds", names.seconds, {"extent", "busy"}); !ok) {
    return Unexpected(ok.error());
  }
  return names;
}

Expected<Json> parse_json(std::string_view text, const std::string& name) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    const auto* parse = dynamic_cast<const Json::parse_error*>(&error);
    return invalid(fmt::format("{}: byte {} is not right in JSON; allowed: a Chrome trace",
                               name,
                               parse == nullptr ? 0 : parse->byte));
  }
}

std::vector<Event> events_of(const Json& list, const ColumnNames& names) {
  std::vector<Event> events;
  for (const Json& each : list) {
    if (auto event = event_of(each, names)) events.push_back(std::move(*event));
  }
  return events;
}

}  // namespace

Expected<DelayProfile> parse_chrome_trace(std::string_view text,
                                          const std::string& name,
                                          const ColumnNames& given) {
  auto names = with_defaults(given);
  if (!names) return Unexpected(names.error());
  const bool any_events = names->events.empty();
  if (any_events) names->events = "compute";
  const auto trace = parse_json(text, name);
  if (!trace) return Unexpected(trace.error());
  static const Json none = Json::array();
  const Json& list = trace->is_object() && trace->contains("traceEvents") ? trace->at("traceEvents")
                     : trace->is_array()                                  ? *trace
                                                                          : none;
  std::vector<Event> events = events_of(list, *names);
  const bool computing =
      std::any_of(events.begin(), events.end(), [](const Event& event) { return event.computes; });
  if (computing || !any_events) std::erase_if(events, [](const Event& e) { return !e.computes; });
  if (events.empty()) {
    return invalid(
        fmt::format("{}: no complete event (\"ph\":\"X\" with ts and dur) names a round in args.{}"
                    "{}; other names: --columns round=KEY,events=PART",
                    name,
                    names->round,
                    any_events ? "" : " and has " + in_quotes(names->events) + " in its name"));
  }
  std::map<std::pair<std::string, std::string>, std::vector<Interval>> steps;
  for (const Event& event : events) steps[{event.round, event.worker}].push_back(event.time);
  std::vector<Sample> samples;
  for (auto& [key, intervals] : steps) {
    const double seconds =
        names->seconds == "busy" ? busy(std::move(intervals)) : extent(intervals);
    if (!(seconds > 0 && seconds < 1e300)) {
      return invalid(fmt::format("{}: round {}, worker {}: {} is not a time; allowed: > 0",
                                 name,
                                 in_quotes(key.first),
                                 in_quotes(key.second),
                                 seconds));
    }
    samples.push_back({key.second, key.first, seconds, 0});
  }
  return table_of(samples, name);
}

}  // namespace paceline
