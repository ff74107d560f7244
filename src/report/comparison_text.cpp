#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "paceline/comparison_report.hpp"
#include "report/comparison_rows.hpp"

namespace paceline {
namespace {

/// How many jobs per round tuning could choose from.
std::string bundling_note(const CompareOptions& options) {
  if (options.most_jobs_per_round == 1) return "one job per round";
  if (options.fewest_jobs_per_round == options.most_jobs_per_round) {
    return fmt::format("{} jobs per round", options.most_jobs_per_round);
  }
  return "any number of jobs per round; --jobs-per-round 1: one";
}

}  // namespace

std::vector<const ComparedScheme*> ordered_rows(const Comparison& comparison) {
  std::vector<const ComparedScheme*> rows;
  for (const ComparedScheme& scheme : comparison.schemes) rows.push_back(&scheme);
  std::ranges::stable_sort(rows, {}, [](const ComparedScheme* scheme) {
    return std::pair(scheme->info.jobs_per_round, scheme->mean_seconds());
  });
  return rows;
}

std::optional<double> ratio_to_relay(const Comparison& comparison, const ComparedScheme& row) {
  std::optional<double> fastest;
  for (const ComparedScheme& other : comparison.schemes) {
    if (other.info.name != "relay" || other.info.jobs_per_round != row.info.jobs_per_round) {
      continue;
    }
    fastest = std::min(fastest.value_or(other.mean_seconds()), other.mean_seconds());
  }
  if (!fastest) return std::nullopt;
  return row.mean_seconds() / *fastest;
}

std::string tuned_note(const Comparison& comparison) {
  return comparison.options.block == 0
             ? "chosen on these very rounds: best in hindsight"
             : "chosen on other resamples of the same rounds, not on those scored";
}

std::string comparison_text(const Comparison& comparison, const std::string& title) {
  const CompareOptions& options = comparison.options;
  const std::vector<const ComparedScheme*> rows = ordered_rows(comparison);
  std::string text =
      fmt::format("{} workers, {} jobs, {}, {} recorded rounds, {}\n",
                  comparison.workers,
                  options.jobs,
                  title,
                  comparison.recorded_rounds,
                  options.block == 0
                      ? std::string("played as they are")
                      : fmt::format("{} resamples in blocks of {}", options.seeds, options.block));
  std::size_t width = 6;
  std::size_t close_width = 5;
  bool any_tuned = false;
  for (const ComparedScheme* scheme : rows) {
    width = std::max(width, scheme->info.label().size() + 2);
    close_width = std::max(close_width, scheme->candidate.close.size());
    any_tuned = any_tuned || scheme->tuned;
  }
  text += fmt::format("\n{:<{}}  {:<{}}  {:>3}  {:>2}  {:>7}  {:>9}  {:>7}  {:>7}  {:>7}\n",
                      "scheme",
                      width,
                      "close",
                      close_width,
                      "m",
                      "T",
                      "load",
                      "mean s",
                      "sd s",
                      "x limit",
                      "x relay");
  int m = 0;
  for (const ComparedScheme* scheme : rows) {
    if (scheme->info.jobs_per_round != m) {
      m = scheme->info.jobs_per_round;
      text += fmt::format("{:<{}}  {:<{}}  {:>3}  {:>2}  {:>7}  {:>9.3f}  {:>7}  {:>7.3f}\n",
                          "clairvoyant limit",
                          width,
                          "",
                          close_width,
                          m,
                          "",
                          "",
                          scheme->mean_limit(),
                          "",
                          1.0);
    }
    const auto to_relay = ratio_to_relay(comparison, *scheme);
    text +=
        fmt::format("{:<{}}  {:<{}}  {:>3}  {:>2}  {:>7.4f}  {:>9.3f}  {:>7.3f}  {:>7.3f}  {:>7}\n",
                    scheme->info.label() + (scheme->tuned ? " *" : ""),
                    width,
                    scheme->candidate.close,
                    close_width,
                    m,
                    scheme->info.decode_delay,
                    scheme->info.load,
                    scheme->mean_seconds(),
                    scheme->sd_seconds(),
                    scheme->ratio_to_limit(),
                    to_relay ? fmt::format("{:.3f}", *to_relay) : "");
  }
  text +=
      "\nm: jobs per round; T: decode delay in rounds; x relay: over the fastest relay with this "
      "m\n";
  if (any_tuned) {
    text += fmt::format("*: named without settings, so tuned ({}): {}\n",
                        bundling_note(options),
                        tuned_note(comparison));
  }
  for (const std::string& line : comparison.without) text += line + "\n";
  return text;
}

}  // namespace paceline
