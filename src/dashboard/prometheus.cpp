// The state in Prometheus' text format, version 0.0.4: for each metric its help, its type, its
// samples. What is not known has no sample.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "paceline/dashboard.hpp"

namespace paceline {
namespace {

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

class MetricsText {
 public:
  /// The samples of one metric follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP paceline_{} {}\n# TYPE paceline_{} {}\n", name, help, name, type);
  }

  /// @param labels  with their braces, or nothing
  /// @param suffix  of the name
  void sample(double value, std::string_view labels = "", std::string_view suffix = "") {
    text_ += fmt::format("paceline_{}{}{} {}\n", name_, suffix, labels, value);
  }

  void gauge(std::string_view name, std::string_view help, double value) {
    if (!std::isfinite(value)) return;
    metric(name, "gauge", help);
    sample(value);
  }

  void gauge(std::string_view name, std::string_view help, const std::optional<Seconds>& value) {
    if (value) gauge(name, help, value->count());
  }

  void counter(std::string_view name, std::string_view help, long long value) {
    metric(name, "counter", help);
    sample(static_cast<double>(value));
  }

  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

void add_rounds(MetricsText& out, const LiveTotals& totals) {
  out.metric("round_seconds", "histogram", "How long rounds took, over all schemes of the run.");
  long long below = 0;
  for (std::size_t c = 0; c < totals.round_counts.size(); ++c) {
    below += totals.round_counts[c];
    const bool last = c == totals.kRoundSeconds.size();
    out.sample(static_cast<double>(below),
               last ? R"({le="+Inf"})" : fmt::format(R"({{le="{}"}})", totals.kRoundSeconds[c]),
               "_bucket");
  }
  out.sample(totals.round_seconds, "", "_sum");
  out.sample(static_cast<double>(totals.rounds), "", "_count");
}

void add_worker_scores(MetricsText& out, const std::vector<WorkerScore>& workers) {
  const auto each = [&](std::string_view name, std::string_view help, double WorkerScore::*value) {
    out.metric(name, "gauge", help);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (!std::isfinite(workers[i].*value)) continue;
      out.sample(workers[i].*value, fmt::format(R"({{worker="{}"}})", i));
    }
  };
  each("worker_response_seconds",
       "Median response time of the worker in its newest 16 rounds with work.",
       &WorkerScore::seconds);
  each("worker_relative_score",
       "Shortest paceline_worker_response_seconds of all workers over this worker's, 0 to 1.",
       &WorkerScore::relative);
  each(
      "worker_individual_score",
      "Shortest paceline_worker_response_seconds that the worker had over its present one, 0 to 1.",
      &WorkerScore::individual);
}

}  // namespace

std::string prometheus_text(const LiveView& view) {
  MetricsText out;
  const LiveTotals& totals = view.totals;
  out.metric("scheme_info", "gauge", "The scheme that is played; always 1.");
  if (view.scheme.number > 0) {
    out.sample(
        1,
        fmt::format(
            R"({{scheme="{}",number="{}"}})", label_value(view.playing), view.scheme.number));
  }
  out.gauge("schemes", "Schemes that the run plays, one after the other.", view.scheme.schemes);
  out.gauge("workers", "Workers.", view.run.workers);
  out.counter("jobs_decoded_total", "Decoded jobs, over all schemes of the run.", totals.jobs);
  out.counter("rounds_total", "Closed rounds, over all schemes of the run.", totals.rounds);
  out.counter(
      "wait_outs_total",
      "Rounds that waited past the cutoff of the close policy, over all schemes of the run.",
      totals.wait_outs);
  add_rounds(out, totals);

  out.gauge("scheme_jobs", "Jobs that the scheme is to decode.", view.scheme.jobs);
  out.gauge("scheme_jobs_decoded", "Jobs that the scheme has decoded.", view.jobs);
  out.gauge("scheme_elapsed_seconds",
            "From the opening of the scheme's first round to the close of its newest.",
            view.newest_round.closed.count());
  out.gauge("scheme_left_seconds", "Time for the jobs left at the pace so far.", view.left());
  out.gauge("scheme_predicted_seconds",
            "Time for all jobs of the scheme by the simulator.",
            view.scheme.predicted);
  out.gauge("scheme_waiting_for_all_seconds",
            "What the same rounds would have taken if each had waited for its slowest worker.",
            view.newest_round.slowest);
  out.gauge("scheme_clairvoyant_seconds",
            "Clairvoyant limit for the jobs decoded so far.",
            view.newest_round.limit);
  out.gauge("round_stragglers", "Stragglers of the newest round.", view.newest_round.stragglers);
  out.metric("loss", "gauge", "Training loss of the model's newest decoded job.");
  for (std::size_t m = 0; m < view.loss.size(); ++m) {
    if (!std::isfinite(view.loss[m])) continue;
    out.sample(view.loss[m], fmt::format(R"({{model="{}"}})", label_value(view.run.models[m])));
  }
  add_worker_scores(out, view.workers);
  out.metric("worker_straggled_rounds_total",
             "counter",
             "Rounds that closed without all answers of the worker, over all schemes of the run.");
  for (std::size_t i = 0; i < totals.straggled.size(); ++i) {
    out.sample(static_cast<double>(totals.straggled[i]), fmt::format(R"({{worker="{}"}})", i));
  }
  return out.take();
}

}  // namespace paceline
