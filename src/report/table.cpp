#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace paceline {
namespace {

constexpr char kUnknown[] = "-";

using Value = std::function<std::optional<double>(const SchemeRun&)>;
using Cell = std::function<std::string(const SchemeRun&)>;

class Columns {
 public:
  explicit Columns(const RunReport& report) : report_(report) {}

  void texts(Column column, const Cell& cell) {
    for (const SchemeRun& run : report_.schemes) column.cells.push_back(cell(run));
    const bool known = std::any_of(column.cells.begin(), column.cells.end(), [](const auto& text) {
      return text != kUnknown;
    });
    if (known) columns_.push_back(std::move(column));
  }

  void numbers(Column column, const Value& value) {
    double largest = 0;
    for (const SchemeRun& run : report_.schemes) {
      if (const std::optional<double> v = value(run)) largest = std::max(largest, std::abs(*v));
    }
    texts(std::move(column), [&](const SchemeRun& run) -> std::string {
      const std::optional<double> v = value(run);
      return v && std::isfinite(*v) ? aligned_number(*v, largest) : kUnknown;
    });
  }

  /// @param format  of one number, such as "{:.2f}"
  void formatted(Column column, const char* format, const Value& value) {
    texts(std::move(column), [&](const SchemeRun& run) -> std::string {
      const std::optional<double> v = value(run);
      return v && std::isfinite(*v) ? fmt::format(fmt::runtime(format), *v) : kUnknown;
    });
  }

  std::vector<Column> take() { return std::move(columns_); }

 private:
  const RunReport& report_;
  std::vector<Column> columns_;
};

std::optional<double> count(const std::optional<Seconds>& time) {
  if (!time) return std::nullopt;
  return time->count();
}

std::string pad(std::string_view text, std::size_t width, bool left) {
  return left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

std::size_t width_of(const Column& column) {
  std::size_t width = std::max(column.heading.size(), column.unit.size());
  for (const std::string& cell : column.cells) width = std::max(width, cell.size());
  return width;
}

/// Mean over the models of the mean of their last tenth of losses.
std::optional<double> last_loss(const SchemeRun& run) {
  double sum = 0;
  for (const std::vector<LossPoint>& points : run.loss) {
    if (points.empty()) return std::nullopt;
    const std::size_t kept = (points.size() + 9) / 10;
    double model = 0;
    for (std::size_t i = points.size() - kept; i < points.size(); ++i) model += points[i].loss;
    sum += model / static_cast<double>(kept);
  }
  if (run.loss.empty()) return std::nullopt;
  return sum / static_cast<double>(run.loss.size());
}

constexpr std::size_t kGap = 2;

std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = 0;
  for (const Column& column : columns) width += width_of(column) + kGap;
  return width - kGap;
}

// Leaves out the least important columns until the rest fits; returns the headings of those.
std::vector<std::string> shrink(std::vector<Column>& columns, std::size_t width) {
  std::vector<std::string> dropped;
  while (width_of(columns) > width) {
    const auto least =
        std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
          return a.rank < b.rank;
        });
    if (least->rank == 0) break;
    dropped.push_back(least->heading);
    columns.erase(least);
  }
  return dropped;
}

template <class Text>
void append_line(std::string& out, const std::vector<Column>& columns, const Text& text) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) line.append(kGap, ' ');
    line += pad(text(columns[c]), width_of(columns[c]), c == 0);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string aligned_number(double value, double largest) {
  int decimals = 3;
  for (double limit = 9.9995; decimals > 0 && largest >= limit; limit *= 10) --decimals;
  if (largest < 0.9995 && largest > 0) {
    decimals = std::min(9, 3 - static_cast<int>(std::floor(std::log10(largest))));
  }
  return fmt::format("{:.{}f}", value, decimals);
}

std::vector<Column> comparison(const RunReport& report) {
  Columns columns(report);
  columns.texts({"scheme", "", "name and parameters", 0, {}},
                [](const SchemeRun& run) { return run.label; });
  columns.numbers({"time", "s", "from the start to the last decoded job", 0, {}},
                  [](const SchemeRun& run) { return run.total.count(); });
  columns.formatted(
      {"speed-up", "vs uncoded", "uncoded time per job over this time per job", 1, {}},
      "{:.2f}x",
      [&](const SchemeRun& run) { return report.speed_up(run); });
  columns.numbers({"predicted", "s", "the same time by the simulator, before the run", 3, {}},
                  [](const SchemeRun& run) { return count(run.predicted); });
  columns.numbers(
      {"limit", "s", "clairvoyant limit: no scheme with these m and T can be faster", 6, {}},
      [](const SchemeRun& run) { return count(run.limit); });
  columns.numbers({"per job", "ms", "time over decoded jobs", 7, {}},
                  [](const SchemeRun& run) { return 1e3 * run.seconds_per_job(); });
  columns.texts({"rounds", "", "", 5, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.rounds); });
  columns.formatted(
      {"load", "", "share of a job's data a worker processes per round, largest", 4, {}},
      "{:.3f}",
      [](const SchemeRun& run) { return run.load; });
  columns.texts({"m", "", "jobs started per round", 9, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.jobs_per_round); });
  columns.texts({"T", "", "decode delay in rounds", 10, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.decode_delay); });
  columns.formatted({"stragglers", "per round", "workers not waited for, mean", 8, {}},
                    "{:.2f}",
                    [](const SchemeRun& run) { return run.mean_stragglers; });
  columns.formatted({"accuracy", "%", "on the test set, mean over the models", 2, {}},
                    "{:.2f}",
                    [](const SchemeRun& run) -> std::optional<double> {
                      const std::optional<double> mean = run.mean_accuracy();
                      if (!mean) return std::nullopt;
                      return 100 * *mean;
                    });
  columns.formatted({"ensemble", "%", "on the test set, of the models' mean prediction", 3, {}},
                    "{:.2f}",
                    [](const SchemeRun& run) -> std::optional<double> {
                      if (!run.ensemble_accuracy) return std::nullopt;
                      return 100 * *run.ensemble_accuracy;
                    });
  columns.formatted({"left", "out", "residual |a G - 1|^2 / k of a decoding, mean", 2, {}},
                    "{:.2e}",
                    [](const SchemeRun& run) { return run.mean_residual; });
  columns.texts({"skipped", "jobs", "gradients with too much left out for a step", 2, {}},
                [](const SchemeRun& run) -> std::string {
                  return run.skipped > 0 ? fmt::to_string(run.skipped) : kUnknown;
                });
  columns.formatted({"verify", "error", "largest relative error of a decoded gradient", 2, {}},
                    "{:.1e}",
                    [](const SchemeRun& run) { return run.worst_verify_error; });
  return columns.take();
}

std::vector<Column> details(const RunReport& report) {
  Columns columns(report);
  columns.texts({"scheme", "", "name and parameters", 0, {}},
                [](const SchemeRun& run) { return run.label; });
  columns.texts({"jobs", "decoded", "", 0, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.jobs); });
  columns.texts({"wait-outs", "rounds", "rounds that waited past the close policy's cutoff", 0, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.wait_outs); });
  columns.texts({"overruns", "answers", "answers later than injected: too few cores", 0, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.overruns); });
  columns.numbers({"received", "kB per round", "payload bytes at the master, mean", 0, {}},
                  [](const SchemeRun& run) { return run.bytes_per_round / 1e3; });
  columns.texts({"verified", "gradients", "decoded gradients compared with direct ones", 0, {}},
                [](const SchemeRun& run) -> std::string {
                  return run.worst_verify_error ? fmt::to_string(run.verified) : kUnknown;
                });
  for (std::size_t m = 0; m < report.models.size(); ++m) {
    columns.formatted({report.models[m], "accuracy %", "on the test set", 0, {}},
                      "{:.2f}",
                      [m](const SchemeRun& run) -> std::optional<double> {
                        if (m >= run.accuracy.size()) return std::nullopt;
                        return 100 * run.accuracy[m];
                      });
  }
  return columns.take();
}

std::vector<Column> side_by_side(std::span<const NamedReport> runs) {
  RunReport all;
  std::vector<std::string> names;
  for (const NamedReport& run : runs) {
    for (const SchemeRun& scheme : run.report.schemes) {
      all.schemes.push_back(scheme);
      all.schemes.back().history.clear();
      names.push_back(run.name + (run.report.kind == "run" ? "" : " (" + run.report.kind + ")"));
    }
  }
  Columns columns(all);
  std::size_t next = 0;
  columns.texts({"run", "", "", 0, {}}, [&](const SchemeRun&) { return names[next++]; });
  columns.texts({"scheme", "", "name and parameters", 0, {}},
                [](const SchemeRun& run) { return run.label; });
  columns.texts({"updates", "jobs", "decoded gradients, of all models", 0, {}},
                [](const SchemeRun& run) { return fmt::to_string(run.jobs); });
  columns.numbers({"time", "s", "from the start to the last decoded job", 0, {}},
                  [](const SchemeRun& run) { return run.total.count(); });
  columns.numbers({"per job", "ms", "time over decoded jobs", 0, {}},
                  [](const SchemeRun& run) { return 1e3 * run.seconds_per_job(); });
  columns.numbers({"time won", "s", "against waiting for every round's slowest worker", 0, {}},
                  [](const SchemeRun& run) { return count(run.time_won); });
  columns.formatted({"over limit", "times", "time over the clairvoyant limit", 0, {}},
                    "{:.3f}",
                    [](const SchemeRun& run) -> std::optional<double> {
                      if (!run.limit || run.limit->count() <= 0) return std::nullopt;
                      return run.total / *run.limit;
                    });
  columns.formatted({"accuracy", "%", "on the test set, mean over the models", 0, {}},
                    "{:.2f}",
                    [](const SchemeRun& run) -> std::optional<double> {
                      const std::optional<double> mean = run.mean_accuracy();
                      if (!mean) return std::nullopt;
                      return 100 * *mean;
                    });
  columns.formatted({"loss", "training", "mean of the last tenth of every model's updates", 0, {}},
                    "{:.4f}",
                    last_loss);
  return columns.take();
}

std::string table_text(const RunReport& report, int width) {
  std::vector<Column> columns = comparison(report);
  if (columns.empty()) return "no scheme was played\n";
  std::vector<std::string> dropped;
  if (width > 0) dropped = shrink(columns, static_cast<std::size_t>(width));
  std::string out;
  append_line(out, columns, [](const Column& column) { return column.heading; });
  append_line(out, columns, [](const Column& column) { return column.unit; });
  out += std::string(width_of(columns), '-') + '\n';
  for (std::size_t row = 0; row < report.schemes.size(); ++row) {
    append_line(out, columns, [row](const Column& column) { return column.cells[row]; });
  }
  if (!dropped.empty()) out += fmt::format("(no space for: {})\n", fmt::join(dropped, ", "));
  if (const std::string caution = report.caution(); !caution.empty()) out += '\n' + caution + '\n';
  return out;
}

}  // namespace paceline
