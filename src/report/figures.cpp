// Figures as gnuplot scripts and tables: a widely used program draws them, and who wants another
// form has the numbers and the script to change.
//
// A figure fits a column of 85 mm: text of 8 points, lines of 1 point. Colours are those of Okabe
// and Ito (2008), which colour-blind readers can tell apart; curves also differ in dashes, marks of
// times in shape, and response times in lightness, so that a grey print says the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "paceline/run_reports.hpp"

namespace paceline {
namespace {

constexpr const char* kColours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9"};
constexpr std::size_t kDashes = 5;  // that gnuplot has
constexpr double kPixelsPerMillimetre = 96 / 25.4;
constexpr double kColumn = 85;  // millimetres
/// Cells that are drawn as rectangles, which stay sharp at any size; more are drawn as one picture,
/// since they would take a hundred bytes each.
constexpr std::size_t kMostPixels = 4000;

/// In gnuplot's single quotes, where only they are special.
std::string gnuplot_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// What begins a script that draws NAME in each format; `body` is played for each.
std::string script(const std::string& name,
                   double height,
                   std::span<const std::string> formats,
                   const std::string& settings,
                   const std::string& plot) {
  std::string text = "# gnuplot " + name + ".gp\nset encoding utf8\n" + settings;
  for (const std::string& format : formats) {
    if (format == "svg") {
      text += fmt::format(
          "set terminal svg standalone size {:.0f},{:.0f} font 'Helvetica,11' linewidth 1.33\n",
          kColumn * kPixelsPerMillimetre,
          height * kPixelsPerMillimetre);
    } else if (format == "pdf") {
      text += fmt::format(
          "set terminal pdfcairo size {:.2f}cm,{:.2f}cm font 'Helvetica,8' linewidth 1\n",
          kColumn / 10,
          height / 10);
    } else {  // 300 dots per inch
      text += fmt::format(
          "set terminal pngcairo size {:.0f},{:.0f} font 'Helvetica,8' fontscale 3.125 "
          "linewidth 3 pointscale 3\n",
          kColumn * 300 / 25.4,
          height * 300 / 25.4);
    }
    text += fmt::format("set output '{}.{}'\n{}unset output\n", name, format, plot);
  }
  return text;
}

struct FigureRow {
  std::string label;
  const SchemeRun* run;
};

std::vector<FigureRow> figure_rows(std::span<const NamedReport> runs) {
  std::vector<FigureRow> rows;
  for (const NamedReport& run : runs) {
    for (const SchemeRun& scheme : run.report.schemes) {
      rows.push_back({runs.size() > 1 ? run.name + ": " + scheme.label : scheme.label, &scheme});
    }
  }
  return rows;
}

std::string cell_or_nan(const std::optional<Seconds>& value) {
  return value && std::isfinite(value->count()) ? fmt::format("{:.6g}", value->count()) : "NaN";
}

void add_times(std::vector<FigureFile>& files,
               std::span<const FigureRow> rows,
               std::span<const std::string> formats) {
  std::string table =
      "# row, seconds: measured, predicted by the simulator, clairvoyant limit; scheme\n";
  bool predicted = false;
  bool limit = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SchemeRun& run = *rows[i].run;
    std::string label = rows[i].label;
    std::ranges::replace(label, '"', '\'');
    table += fmt::format("{} {} {} {} \"{}\"\n",
                         i,
                         cell_or_nan(run.total),
                         cell_or_nan(run.predicted),
                         cell_or_nan(run.limit),
                         label);
    predicted = predicted || run.predicted.has_value();
    limit = limit || run.limit.has_value();
  }
  const std::string settings = fmt::format(
      "set xlabel 'time for all jobs (s)'\nset xrange [0:*]\nset yrange [{}:-0.7]\n"
      "unset ytics\nset xtics nomirror\nset border 3\nset lmargin 2\nset rmargin 3\n"
      "set key above horizontal left Left reverse samplen 1.5\nset style fill solid 1 noborder\n",
      static_cast<double>(rows.size()) - 0.5);
  std::string plot =
      "plot 'times.dat' using (0):($1-0.42):5 with labels left offset 0.5,0 noenhanced notitle, "
      "\\\n"
      "  '' using ($2/2):1:($2/2):(0.2) with boxxyerror lc rgb '#56b4e9' title 'measured'";
  if (limit) {
    plot +=
        ", \\\n  '' using 4:($1-0.25):(0):(0.5) with vectors nohead lw 1.5 dt 2 lc rgb 'black' "
        "title 'limit'";
  }
  if (predicted) {
    plot += ", \\\n  '' using 3:1 with points pt 12 ps 0.7 lc rgb 'black' title 'predicted'";
  }
  const double height = 24 + 8 * static_cast<double>(rows.size());
  files.push_back({"times.dat", std::move(table)});
  files.push_back({"times.gp", script("times", height, formats, settings, plot + "\n")});
}

/// Mean over the models, from when each has a loss: (seconds, loss) in order of time.
std::vector<std::pair<double, double>> mean_loss(const SchemeRun& run) {
  struct Event {
    double time;
    std::size_t model;
    double loss;
  };

  std::vector<Event> events;
  for (std::size_t m = 0; m < run.loss.size(); ++m) {
    for (const LossPoint& point : run.loss[m]) {
      if (std::isfinite(point.loss)) events.push_back({point.time.count(), m, point.loss});
    }
  }
  std::ranges::stable_sort(events, {}, &Event::time);
  std::map<std::size_t, double> newest;
  std::vector<std::pair<double, double>> curve;
  for (const Event& event : events) {
    newest[event.model] = event.loss;
    if (newest.size() < run.loss.size()) continue;
    double sum = 0;
    for (const auto& [model, loss] : newest) sum += loss;
    curve.emplace_back(event.time, sum / static_cast<double>(newest.size()));
  }
  return curve;
}

/// Mean over a window of a fiftieth of the curve, shorter at its ends, as on the page.
std::vector<std::pair<double, double>> smooth(const std::vector<std::pair<double, double>>& curve) {
  const std::size_t half = (curve.size() + 99) / 100;
  std::vector<std::pair<double, double>> out;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t reach = std::min({half, i, curve.size() - 1 - i});
    double sum = 0;
    for (std::size_t j = i - reach; j <= i + reach; ++j) sum += curve[j].second;
    out.emplace_back(curve[i].first, sum / static_cast<double>(2 * reach + 1));
  }
  return out;
}

void add_losses(std::vector<FigureFile>& files,
                std::span<const FigureRow> rows,
                std::span<const std::string> formats) {
  std::string table =
      "# seconds, training loss: mean over the models, smoothed over a fiftieth of the curve\n";
  std::string plot;
  std::size_t index = 0;
  for (const FigureRow& row : rows) {
    const auto curve = smooth(mean_loss(*row.run));
    if (curve.empty()) continue;
    table += fmt::format("{}# {}\n", index > 0 ? "\n\n" : "", row.label);
    for (const auto& [time, loss] : curve) table += fmt::format("{:.6g} {:.6g}\n", time, loss);
    plot +=
        fmt::format("{} index {} using 1:2 with lines lw 1.2 dt {} lc rgb '{}' title {} noenhanced",
                    index > 0 ? ", \\\n  ''" : "plot 'loss.dat'",
                    index,
                    index % kDashes + 1,
                    kColours[index % std::size(kColours)],
                    gnuplot_text(row.label));
    ++index;
  }
  if (index == 0) return;
  const std::string settings =
      "set xlabel 'time (s)'\nset ylabel 'training loss'\nset xrange [0:*]\nset yrange [0:*]\n"
      "set border 3\nset tics nomirror\n"
      "set key below vertical maxrows " +
      fmt::to_string(index) + " left Left reverse samplen 3\n";
  const double height = 58 + 4 * static_cast<double>(index);
  files.push_back({"loss.dat", std::move(table)});
  files.push_back({"loss.gp", script("loss", height, formats, settings, plot + "\n")});
}

/// Logarithmic, with ticks at 1, 2 and 5, where at least two of these are among the times.
std::string colour_scale(const std::vector<RoundSummary>& history) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const RoundSummary& round : history) {
    for (const float time : round.response) {
      if (!(time > 0) || !std::isfinite(time)) continue;
      low = std::min(low, double{time});
      high = std::max(high, double{time});
    }
  }
  std::string ticks;
  int count = 0;
  for (int decade = -9; decade < 9; ++decade) {
    for (const int digit : {1, 2, 5}) {
      const double tick = digit * std::pow(10, decade);
      if (tick < low || tick > high) continue;
      ticks += fmt::format("{}{:g}", count++ > 0 ? "," : "", tick);
    }
  }
  return count < 2 ? "" : "set logscale cb\nset cbtics (" + ticks + ")\n";
}

void add_responses(std::vector<FigureFile>& files,
                   std::span<const FigureRow> rows,
                   std::span<const std::string> formats) {
  int number = 0;
  for (const FigureRow& row : rows) {
    const std::vector<RoundSummary>& history = row.run->history;
    if (history.empty()) continue;
    const std::string name = fmt::format("response-{}", ++number);
    std::string times = "# a line per worker, a column per round: seconds until its answer\n";
    std::string stragglers = "# a line per worker, a column per round: 1 where it straggled\n";
    for (std::size_t i = 0; i < history.front().response.size(); ++i) {
      for (const RoundSummary& round : history) {
        const float time = round.response[i];
        const bool straggled = round.stragglers.contains(WorkerId{static_cast<int>(i)});
        times += std::isfinite(time) && !straggled ? fmt::format("{:.5g} ", time) : "NaN ";
        stragglers += straggled ? "1 " : "0 ";
      }
      times.back() = '\n';
      stragglers.back() = '\n';
    }
    const std::string settings = fmt::format(
        "set title {} noenhanced\nset xlabel 'round (colour: response time in s; black: "
        "straggler)'\n"
        "set ylabel 'worker'\n{}"
        "set palette defined (0 '#fff7bc', 1 '#7fcdbb', 2 '#2c7fb8', 3 '#253494')\n"
        "set xrange [-0.5:{}]\nset yrange [{}:-0.5]\nset tics out nomirror\nunset key\n",
        gnuplot_text(row.label),
        colour_scale(history),
        static_cast<double>(history.size()) - 0.5,
        static_cast<double>(history.front().response.size()) - 0.5);
    const std::string plot = fmt::format(
        "plot '{0}.dat' matrix with image{1}, \\\n"
        "  '{0}-stragglers.dat' matrix using 1:2:(0):(0):(0):(255*$3) with rgbalpha{1}\n",
        name,
        history.size() * history.front().response.size() <= kMostPixels ? " pixels" : "");
    files.push_back({name + ".dat", std::move(times)});
    files.push_back({name + "-stragglers.dat", std::move(stragglers)});
    files.push_back({name + ".gp", script(name, 60, formats, settings, plot)});
  }
}

}  // namespace

std::vector<FigureFile> figures(std::span<const NamedReport> runs,
                                std::span<const std::string> formats) {
  std::vector<FigureFile> files;
  const std::vector<FigureRow> rows = figure_rows(runs);
  if (rows.empty()) return files;
  add_times(files, rows, formats);
  add_losses(files, rows, formats);
  add_responses(files, rows, formats);
  return files;
}

}  // namespace paceline
