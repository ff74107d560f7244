// The page of a run. Tables are made here and work without a script; charts are drawn by report.js.
#include <fmt/format.h>

#include <string>

#include "paceline/run_report.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/table.hpp"
#include "report/template.hpp"

namespace paceline {
namespace {

const SchemeRun* fastest(const RunReport& report) {
  const SchemeRun* best = nullptr;
  for (const SchemeRun& run : report.schemes) {
    if (run.jobs == 0) continue;
    if (best == nullptr || run.seconds_per_job() < best->seconds_per_job()) best = &run;
  }
  return best;
}

std::string summary(const RunReport& report) {
  const SchemeRun* best = fastest(report);
  if (best == nullptr) return "No job was decoded.";
  const double total = best->total.count();
  std::string text = fmt::format("<span class=\"mono\">{}</span> was the fastest: {} jobs in {} s",
                                 escape(best->label),
                                 best->jobs,
                                 aligned_number(total, total));
  if (const std::optional<double> ratio = report.speed_up(*best); ratio && *ratio > 1.005) {
    text += fmt::format(", {:.2f} times as fast as uncoded", *ratio);
  }
  if (best->limit && best->limit->count() > 0) {
    text += fmt::format(" and {:.2f} times the clairvoyant limit", total / best->limit->count());
  }
  return text + '.';
}

std::string caution(const RunReport& report) {
  const std::string text = report.caution();
  return text.empty() ? "" : fmt::format("<p class=\"caution\">{}</p>", escape(text));
}

std::string table(const std::vector<Column>& columns, const RunReport& report) {
  std::string out = "<table>\n<thead><tr>";
  for (const Column& column : columns) {
    out += fmt::format("<th scope=\"col\" title=\"{}\">{}<small>{}</small></th>",
                       escape(column.meaning),
                       escape(column.heading),
                       escape(column.unit));
  }
  out += "</tr></thead>\n<tbody>\n";
  const SchemeRun* best = fastest(report);
  for (std::size_t row = 0; row < report.schemes.size(); ++row) {
    out += &report.schemes[row] == best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t c = 0; c < columns.size(); ++c) {
      out += fmt::format(
          "<td{}>{}</td>", c == 0 ? " class=\"scheme\"" : "", escape(columns[c].cells[row]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>";
}

std::string settings(const RunReport& report) {
  std::string out =
      "<table class=\"settings\">\n<thead><tr><th scope=\"col\">setting</th>"
      "<th scope=\"col\">value</th><th scope=\"col\">from</th></tr></thead>\n<tbody>\n";
  for (const Setting& setting : report.configuration) {
    out += fmt::format("<tr><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{}</td></tr>\n",
                       escape(setting.key),
                       escape(setting.value),
                       escape(setting.origin));
  }
  return out + "</tbody>\n</table>";
}

}  // namespace

std::string report_html(const RunReport& report) {
  return filled(run_page(),
                {{"title", escape(report.title)},
                 {"summary", summary(report)},
                 {"caution", caution(report)},
                 {"facts",
                  fact("Command", report.command, true) + fact("Machine", report.machine) +
                      fact("Date", report.date)},
                 {"comparison", table(comparison(report), report)},
                 {"details", table(details(report), report)},
                 {"configuration", settings(report)},
                 {"data", chart_data(report)}});
}

}  // namespace paceline
