#include "tune/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tune/tune_families.hpp"

namespace paceline {
namespace {

std::size_t fastest(const Tuning& tuning) {
  const auto best = std::ranges::min_element(
      tuning.schemes, {}, [](const TunedScheme& scheme) { return scheme.seconds_per_job.mean; });
  return static_cast<std::size_t>(best - tuning.schemes.begin());
}

const TunedScheme* find(const Tuning& tuning, const std::string& family) {
  const auto found = std::ranges::find(tuning.schemes, family, &TunedScheme::family);
  return found == tuning.schemes.end() ? nullptr : &*found;
}

/// "0, 4, 7 and 9"; of many the first ones.
std::string numbers(const std::vector<int>& workers) {
  constexpr std::size_t kMost = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(workers.size(), kMost); ++i) {
    const bool last = i + 1 == workers.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", workers[i]);
  }
  if (workers.size() > kMost) text += fmt::format(", ... ({} in all)", workers.size());
  return text;
}

std::string share(std::size_t some, int all) {
  if (2 * some == static_cast<std::size_t>(all)) return "Half of your workers are";
  if (some == 1) return "One of your workers is";
  return fmt::format("{} of your {} workers are", some, all);
}

std::string bundling(const TunedScheme& scheme) {
  const int m = scheme.info.jobs_per_round;
  return m == 1 ? std::string() : fmt::format(", {} jobs per round", m);
}

std::string time(const TunedScheme& scheme) {
  return fmt::format(
      "{:.4g} +- {:.2g} s per job", scheme.seconds_per_job.mean, scheme.seconds_per_job.half_width);
}

std::string against_uncoded(const TunedScheme& scheme, const Tuning& tuning) {
  const TunedScheme* uncoded = find(tuning, "uncoded");
  if (uncoded == nullptr || uncoded == &scheme) return {};
  return fmt::format(", {:.2f} times as fast as uncoded on all workers",
                     uncoded->seconds_per_job.mean / scheme.seconds_per_job.mean);
}

std::string setting(const TunedScheme& scheme) {
  std::string text = scheme.info.label();
  if (!scheme.left_out.empty()) text += fmt::format(" on {} workers", scheme.info.workers);
  if (scheme.candidate.close != "eager") text += fmt::format(", close {}", scheme.candidate.close);
  return text;
}

std::string drop(const TunedScheme& scheme, const Tuning& tuning) {
  const std::vector<int>& out = scheme.left_out;
  const bool they = out.size() > 1;
  const bool always = std::ranges::includes(tuning.slow_workers, out);
  return fmt::format("{} {} slow: drop {} ({} {})",
                     share(out.size(), tuning.workers),
                     always ? "always" : "often",
                     they ? "them" : "it",
                     they ? "workers" : "worker",
                     numbers(out));
}

std::string main_sentence(const TunedScheme& scheme, const Tuning& tuning) {
  const std::string result = time(scheme) + against_uncoded(scheme, tuning);
  if (scheme.family == "uncoded") {
    return fmt::format("Stay uncoded{}: {}, and no scheme is faster by more than noise and 1 %.",
                       bundling(scheme),
                       result);
  }
  if (scheme.family == kUncodedOnFewer) {
    return fmt::format(
        "{} and stay uncoded on the others{}: {}.", drop(scheme, tuning), bundling(scheme), result);
  }
  if (!scheme.left_out.empty()) {
    return fmt::format("{} and use {}: {}.", drop(scheme, tuning), setting(scheme), result);
  }
  // A worker's load is that of uncoded training: nothing is handed out twice before it is missed.
  const double uncoded_load = 1.0 * scheme.info.jobs_per_round / scheme.info.workers;
  const bool redundant = scheme.info.load > uncoded_load * 1.001;
  return fmt::format("{}se {}: {}.",
                     redundant ? "U" : "No redundancy in advance pays; u",
                     setting(scheme),
                     result);
}

/// What to know of workers that are always slow, unless they are few or dropped.
std::string slow_sentence(const TunedScheme& scheme, const Tuning& tuning) {
  constexpr std::size_t kFew = 20;  // one in so many
  const bool few = tuning.slow_workers.size() * kFew < static_cast<std::size_t>(tuning.workers);
  if (few || !scheme.left_out.empty()) return {};
  // Units sized by speed, or a relay that learns who is slow.
  const bool weighted =
      scheme.family == "relay" || scheme.info.parameters.find("speed=8") != std::string::npos;
  std::string text = fmt::format(" {} always slow ({})",
                                 share(tuning.slow_workers.size(), tuning.workers),
                                 numbers(tuning.slow_workers));
  if (weighted) text += ": this gives them less to do";
  const TunedScheme* fewer = find(tuning, kUncodedOnFewer);
  if (fewer == nullptr) return text + ".";
  return text + fmt::format("{} uncoded on the {} best workers takes {}.",
                            weighted ? "; if you drop them," : ";",
                            fewer->info.workers,
                            time(*fewer));
}

/// The fastest scheme, where a simpler one is recommended all the same.
std::string fastest_sentence(const TunedScheme& scheme, const Tuning& tuning) {
  const TunedScheme& best = tuning.schemes[fastest(tuning)];
  if (&best == &scheme) return {};
  const Estimate gap = difference(scheme, best, tuning);
  const double percent = 100 / scheme.seconds_per_job.mean;
  return fmt::format(" ({} took {:.1f} +- {:.1f} % less time, which is not worth its complexity.)",
                     setting(best),
                     gap.mean * percent,
                     gap.half_width * percent);
}

}  // namespace

std::size_t simplest_good(const Tuning& tuning) {
  const TunedScheme& best = tuning.schemes[fastest(tuning)];
  for (std::size_t i = 0; i < tuning.schemes.size(); ++i) {
    const Estimate gap = difference(tuning.schemes[i], best, tuning);
    if (gap.mean <= std::max(gap.half_width, kNotWorthIt * best.seconds_per_job.mean)) return i;
  }
  return fastest(tuning);
}

std::string advice(const Tuning& tuning) {
  const TunedScheme& scheme = tuning.schemes[tuning.recommended];
  return main_sentence(scheme, tuning) + slow_sentence(scheme, tuning) +
         fastest_sentence(scheme, tuning);
}

}  // namespace paceline
