// The page of a run, which is also a part of the page of several. Tables are made here and work
// without a script; charts are drawn by report.js.
#include <fmt/format.h>

#include <string>

#include "paceline/run_report.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"
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

/// Names stand at the left, numbers at the right.
const char* label_class(const Column& column) {
  return column.heading == "scheme" || column.heading == "run" ? " class=\"scheme\"" : "";
}

}  // namespace

std::string columns_html(const std::vector<Column>& columns, std::size_t best) {
  std::string out = "<table>\n<thead><tr>";
  for (const Column& column : columns) {
    out += fmt::format("<th scope=\"col\"{} title=\"{}\">{}<small>{}</small></th>",
                       label_class(column),
                       escape(column.meaning),
                       escape(column.heading),
                       escape(column.unit));
  }
  out += "</tr></thead>\n<tbody>\n";
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  for (std::size_t row = 0; row < rows; ++row) {
    out += row == best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t c = 0; c < columns.size(); ++c) {
      out += fmt::format("<td{}>{}</td>", label_class(columns[c]), escape(columns[c].cells[row]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>";
}

namespace {

std::string table(const std::vector<Column>& columns, const RunReport& report) {
  const SchemeRun* best = fastest(report);
  return columns_html(columns,
                      best == nullptr ? report.schemes.size()
                                      : static_cast<std::size_t>(best - report.schemes.data()));
}

std::string settings(const RunReport& report) {
  std::string out =
      "<table class=\"settings\">\n<thead><tr><th scope=\"col\">setting</th>"
      "<th scope=\"col\">value</th><th scope=\"col\">from</th></tr></thead>\n<tbody>\n";
  for (const Setting& setting : report.configuration) {
    out +=
        fmt::format("<tr{}><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{}</td></tr>\n",
                    setting.origin == "default" ? " class=\"default\"" : "",
                    escape(setting.key),
                    escape(setting.value),
                    escape(setting.origin));
  }
  return out + "</tbody>\n</table>";
}

}  // namespace

std::string run_html(const RunReport& report, const std::string& at, const std::string& name) {
  return filled(run_part(),
                {{"at", at},
                 {"name", escape(name)},
                 {"brand", escape("Paceline " + report.kind)},
                 {"title", escape(name.empty() ? report.title : name + ": " + report.title)},
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

std::string report_html(const RunReport& report) {
  return filled(report_page(),
                {{"title", escape(report.title)}, {"content", run_html(report, "", "")}});
}

}  // namespace paceline
