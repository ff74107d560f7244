// The page of a comparison. The table is made here and works without a script; charts are drawn by
// compare.js.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/comparison_report.hpp"
#include "paceline/run_report.hpp"
#include "report/comparison_rows.hpp"
#include "report/heat_map.hpp"
#include "report/page.hpp"
#include "report/table.hpp"
#include "report/template.hpp"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<const ComparedScheme*>;

/// Five digits: more than a plot shows.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double steps = std::pow(10, 4 - std::floor(std::log10(std::abs(value))));
  return std::round(value * steps) / steps;
}

std::string cell(const std::string& text, const char* attributes = "") {
  return fmt::format("<td{}>{}</td>", attributes, escape(text));
}

std::string table(const Comparison& comparison, const Rows& rows) {
  std::string out = "<table>\n<thead><tr>";
  for (const auto& [heading, unit] : {std::pair{"scheme", ""},
                                      std::pair{"close", ""},
                                      std::pair{"m", "jobs per round"},
                                      std::pair{"T", "rounds"},
                                      std::pair{"load", ""},
                                      std::pair{"storage", ""},
                                      std::pair{"time", "mean, s"},
                                      std::pair{"sd", "s"},
                                      std::pair{"limit", "s"},
                                      std::pair{"time", "x limit"},
                                      std::pair{"time", "x relay"}}) {
    out += fmt::format("<th scope=\"col\">{}<small>{}</small></th>", heading, unit);
  }
  out += "</tr></thead>\n<tbody>\n";
  double largest = 0;
  for (const ComparedScheme* row : rows) largest = std::max(largest, row->mean_seconds());
  std::set<int> seen;
  for (const ComparedScheme* row : rows) {
    const bool best = seen.insert(row->info.jobs_per_round).second;
    out += best ? "<tr class=\"best\">" : "<tr>";
    out += cell(row->info.label() + (row->tuned ? " *" : ""), " class=\"scheme\"");
    out += cell(row->candidate.close, " class=\"scheme\"");
    out += cell(fmt::to_string(row->info.jobs_per_round));
    out += cell(fmt::to_string(row->info.decode_delay));
    out += cell(fmt::format("{:.4f}", row->info.load));
    out += cell(fmt::format("{:.4f}", row->info.storage));
    out += cell(aligned_number(row->mean_seconds(), largest));
    out += cell(aligned_number(row->sd_seconds(), largest));
    out += cell(aligned_number(row->mean_limit(), largest));
    out += cell(fmt::format("{:.3f}", row->ratio_to_limit()));
    const auto to_relay = ratio_to_relay(comparison, *row);
    out += cell(to_relay ? fmt::format("{:.3f}", *to_relay) : "");
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>";
}

std::string summary(const Rows& rows) {
  std::string text;
  std::set<int> seen;
  for (const ComparedScheme* row : rows) {
    const int m = row->info.jobs_per_round;
    if (!seen.insert(m).second) continue;
    text += fmt::format(
        "{}{} per round: <span class=\"mono\">{}</span> was the fastest, {:.4g} s, "
        "{:.2f} times the clairvoyant limit.",
        text.empty() ? "" : " ",
        m == 1 ? "One job" : fmt::format("{} jobs", m),
        escape(row->info.label()),
        row->mean_seconds(),
        row->ratio_to_limit());
  }
  return text;
}

std::string note(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  std::string text = fmt::format("{} jobs on {} workers. ", options.jobs, comparison.workers);
  text += options.block == 0
              ? fmt::format("The {} recorded rounds are played as they are.",
                            comparison.recorded_rounds)
              : fmt::format(
                    "Every scheme is played on the same {} resamples of the {} recorded "
                    "rounds, in blocks of {}.",
                    options.seeds,
                    comparison.recorded_rounds,
                    options.block);
  const bool tuned =
      std::ranges::any_of(comparison.schemes, [](const auto& scheme) { return scheme.tuned; });
  if (tuned) text += fmt::format(" Settings marked * were {}.", tuned_note(comparison));
  return text;
}

/// Who answered when, and what was done when, of the first resample.
void add_history(const ComparedScheme& scheme, Json& out) {
  std::vector<RoundSummary> rounds;
  Json time = Json::array();
  Json done = Json::array();
  int jobs = 0;
  for (const RoundRecord& record : scheme.history) {
    jobs += static_cast<int>(record.decoded.size());
    if (!record.decoded.empty()) {
      time.push_back(rounded(record.closed.count()));
      done.push_back(jobs);
    }
    if (record.busy > 0) rounds.push_back(summarize(record));
  }
  out["doneAt"] = std::move(time);
  out["done"] = std::move(done);
  Json round = Json::array();
  Json opened = Json::array();
  Json closed = Json::array();
  Json waited_out = Json::array();
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    round.push_back(rounds[r].round.value);
    opened.push_back(rounded(rounds[r].opened.count()));
    closed.push_back(rounded(rounds[r].closed.count()));
    if (rounds[r].waited_out) waited_out.push_back(r);
  }
  PackedTimes packed = pack_times(rounds);
  out["workers"] = packed.workers;
  out["low"] = packed.low;
  out["high"] = packed.high;
  out["cells"] = std::move(packed.cells);
  out["round"] = std::move(round);
  out["opened"] = std::move(opened);
  out["closed"] = std::move(closed);
  out["waitedOut"] = std::move(waited_out);
}

/// Histories are large: the page keeps those of the best row of each scheme, bundled and not.
Json schemes_json(const Rows& rows) {
  Json list = Json::array();
  std::set<std::pair<std::string, bool>> kept;
  for (const ComparedScheme* row : rows) {
    const auto [least, most] = std::ranges::minmax(row->seconds);
    Json scheme = {{"name", row->info.name},
                   {"label", row->info.label()},
                   {"close", row->candidate.close},
                   {"tuned", row->tuned},
                   {"m", row->info.jobs_per_round},
                   {"delay", row->info.decode_delay},
                   {"load", rounded(row->info.load)},
                   {"seconds", rounded(row->mean_seconds())},
                   {"sd", rounded(row->sd_seconds())},
                   {"least", rounded(least)},
                   {"most", rounded(most)},
                   {"limit", rounded(row->mean_limit())}};
    if (kept.emplace(row->info.name, row->info.jobs_per_round > 1).second) {
      add_history(*row, scheme);
    }
    list.push_back(std::move(scheme));
  }
  return list;
}

/// [name, m, load, seconds per job, jobs played, label, close] of each setting, once.
Json trials_json(const std::vector<Trial>& trials) {
  Json list = Json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Trial& trial : trials) {
    if (!seen.emplace(trial.info.label(), trial.candidate.close).second) continue;
    list.push_back({trial.info.name,
                    trial.info.jobs_per_round,
                    rounded(trial.info.load),
                    rounded(trial.seconds_per_job),
                    trial.jobs,
                    trial.info.label(),
                    trial.candidate.close});
  }
  return list;
}

}  // namespace

std::string comparison_html(const Comparison& comparison, const PageFacts& facts) {
  const Rows rows = ordered_rows(comparison);
  const Json data = {{"jobs", comparison.options.jobs},
                     {"schemes", schemes_json(rows)},
                     {"trials", trials_json(comparison.trials)}};
  return filled(comparison_page(),
                {{"title", escape(facts.title)},
                 {"summary", summary(rows)},
                 {"facts",
                  fact("Command", facts.command, true) + fact("Machine", facts.machine) +
                      fact("Date", facts.date)},
                 {"note", escape(note(comparison))},
                 {"comparison", table(comparison, rows)},
                 {"data", script_safe(data.dump(-1, ' ', false, Json::error_handler_t::replace))}});
}

}  // namespace paceline
