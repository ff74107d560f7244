// Several runs side by side: what can be compared, and their page.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "paceline/run_reports.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"
#include "report/table.hpp"
#include "report/template.hpp"

namespace paceline {
namespace {

std::string setting_of(const RunReport& report, std::string_view key) {
  for (const Setting& setting : report.configuration) {
    if (setting.key == key) return setting.value;
  }
  return {};
}

bool trains(const RunReport& report) { return report.kind == "run"; }

/// 0: no round was recorded.
std::size_t workers_of(const RunReport& report) {
  for (const SchemeRun& run : report.schemes) {
    if (!run.history.empty()) return run.history.front().response.size();
  }
  return 0;
}

std::string delays_of(const RunReport& report) {
  const std::string profile = setting_of(report, "profile");
  return profile.empty() ? setting_of(report, "delays") : profile;
}

std::string said(const std::string& value) { return value.empty() ? "none" : value; }

/// ", batch (32, 64)"; nothing where both are the same.
std::string difference_in(std::string_view what,
                          const std::string& here,
                          const std::string& there) {
  if (here == there) return {};
  return fmt::format(", {} ({}, {})", what, said(here), said(there));
}

/// The row with the least time per job; the number of rows where there is none.
std::size_t fastest_row(std::span<const NamedReport> runs) {
  std::size_t row = 0;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  double least = std::numeric_limits<double>::infinity();
  for (const NamedReport& run : runs) {
    for (const SchemeRun& scheme : run.report.schemes) {
      if (scheme.seconds_per_job() < least) {
        least = scheme.seconds_per_job();
        best = row;
      }
      ++row;
    }
  }
  return best;
}

std::string warning_list(std::span<const NamedReport> runs, std::span<const std::string> left_out) {
  std::string list;
  for (const std::string& line : left_out) list += "<li>Left out: " + escape(line) + "</li>\n";
  for (const std::string& line : incomparable(runs)) list += "<li>" + escape(line) + "</li>\n";
  return list;
}

}  // namespace

std::vector<std::string> incomparable(std::span<const NamedReport> runs) {
  std::vector<std::string> lines;
  if (runs.empty()) return lines;
  const auto& [first_name, first] = runs.front();
  for (const auto& [name, report] : runs.subspan(1)) {
    std::string learning;
    if (trains(first) && trains(report)) {
      for (const char* key : {"model", "data", "models", "batch"}) {
        learning += difference_in(key, setting_of(report, key), setting_of(first, key));
      }
    }
    std::string waiting = difference_in("delays", delays_of(report), delays_of(first));
    for (const char* key : {"slope", "proportional", "scale"}) {
      waiting += difference_in(key, setting_of(report, key), setting_of(first, key));
    }
    if (workers_of(first) > 0 && workers_of(report) > 0) {
      waiting += difference_in(
          "workers", fmt::to_string(workers_of(report)), fmt::to_string(workers_of(first)));
    }
    if (learning.empty() && waiting.empty()) continue;
    lines.push_back(fmt::format("{} and {} differ in{}: their {} are not comparable.",
                                name,
                                first_name,
                                (learning + waiting).substr(1),
                                learning.empty() ? "times" : "times, losses and accuracies"));
  }
  return lines;
}

std::string reports_html(std::span<const NamedReport> runs, std::span<const std::string> left_out) {
  if (runs.size() == 1 && left_out.empty()) return report_html(runs.front().report);
  std::string articles;
  std::string names;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    articles += "<article>\n" + run_html(runs[i].report, fmt::format("run{}-", i), runs[i].name) +
                "</article>\n";
    names += (i > 0 ? ", " : "") + runs[i].name;
  }
  const std::string title = fmt::format("{} runs", runs.size());
  const std::string content =
      filled(runs_part(),
             {{"title", title},
              {"warnings", warning_list(runs, left_out)},
              {"facts", fact("Runs", names)},
              {"comparison", columns_html(side_by_side(runs), fastest_row(runs))},
              {"articles", articles}});
  return filled(report_page(), {{"title", title}, {"content", content}});
}

}  // namespace paceline
