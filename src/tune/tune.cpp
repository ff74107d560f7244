#include "paceline/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "paceline/suggest.hpp"
#include "tune/advice.hpp"
#include "tune/parallel.hpp"
#include "tune/slow_workers.hpp"
#include "tune/tune_families.hpp"

namespace paceline {
namespace {

constexpr std::uint64_t kSearchSeed =
    1'000'000;  // resamples to search on; those to score start at 0

/// How many times as large the variance of the mean over all recorded rounds is as that of the mean
/// over one resample of every fold. A resample has `played` rounds in all: fewer recorded ones know
/// less, however often they are resampled. And blocks of B out of R rounds differ by too little,
/// the less there are of them: by a factor 1 - B/R, since their own mean stands in for the truth.
double variance_ratio(double played, int recorded, const TuneOptions& options) {
  const int R = recorded / options.folds;
  const int B = std::max(1, std::min(options.block, R / 2));  // as bootstrap_rounds() has it
  return played / recorded * R / (R - B);
}

/// Mean and 95 % interval; the mean over the resamples is off by itself, too.
Estimate estimate(const std::vector<double>& scores, double ratio) {
  const auto count = static_cast<double>(scores.size());
  Estimate result;
  result.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
  double sum = 0;
  for (const double score : scores) sum += (score - result.mean) * (score - result.mean);
  const double variance = count > 1 ? sum / (count - 1) : 0;
  result.half_width = 1.96 * std::sqrt(variance * (ratio + 1 / count));
  return result;
}

double rounds_played(const TunedScheme& scheme, const TuneOptions& options) {
  return static_cast<double>(options.folds) * options.jobs / scheme.info.jobs_per_round;
}

/// One fold: the rounds to tune on and the rounds to score on.
struct Fold {
  DelayTable others;
  Arena tuned_on;
  Arena scored_on;
};

class Tuner {
 public:
  Tuner(const DelayTable& recorded, const TuneOptions& options, const SearchControl& control)
      : recorded_(recorded),
        options_(options),
        control_(control),
        whole_(recorded, arena(options.search_resamples, kSearchSeed)) {
    for (int f = 0; f < options.folds; ++f) folds_.push_back(make_fold(f));
    tuning_.workers = recorded.workers();
    tuning_.recorded_rounds = recorded.rounds();
    tuning_.options = options;
    tuning_.slow_workers = always_slow(slowness(recorded));
  }

  Expected<Tuning> run() {
    const std::vector<TuneFamily> families = tune_families(recorded_, limits());
    std::vector<std::string> names;
    for (const TuneFamily& family : families) {
      const bool same_as_gc = family.name == kGcOnFewer && tuning_.slow_workers.empty();
      if (is_wanted(family.name) && !same_as_gc) names.push_back(family.name);
    }
    for (std::size_t i = 0; i < names.size() && !tuning_.interrupted; ++i) {
      done_ = static_cast<double>(i) / static_cast<double>(names.size());
      share_ = 1.0 / static_cast<double>(names.size() * (folds_.size() + 1));
      if (auto tuned = tune_family(names[i], families)) {
        tuning_.schemes.push_back(std::move(*tuned));
      }
    }
    if (tuning_.schemes.empty()) {
      if (tuning_.interrupted) {
        return Unexpected<Error>(
            {ErrorCode::kInterrupted, "interrupted before any scheme was tuned"});
      }
      return invalid(
          fmt::format("no scheme can be played with at most {} jobs in flight and {:.4g} of the "
                      "data per worker",
                      options_.max_delay + 1,
                      options_.storage));
    }
    tuning_.recommended = simplest_good(tuning_);
    tuning_.advice = advice(tuning_);
    return std::move(tuning_);
  }

 private:
  ArenaOptions arena(int resamples, std::uint64_t first_seed) const {
    return {.block = options_.block,
            .resamples = resamples,
            .first_seed = first_seed,
            .jobs = options_.jobs,
            .models = options_.max_delay + 1,
            .storage = options_.storage,
            .max_residual = options_.max_residual,
            .play = options_.play};
  }

  SearchLimits limits() const {
    return {.workers = recorded_.workers(),
            .models = options_.max_delay + 1,
            .storage = options_.storage,
            .fewest_jobs_per_round = options_.fewest_jobs_per_round,
            .most_jobs_per_round = options_.most_jobs_per_round,
            .max_residual = options_.max_residual};
  }

  bool is_wanted(const std::string& name) const {
    return options_.schemes.empty() || std::ranges::count(options_.schemes, name) > 0;
  }

  Fold make_fold(int fold) const {
    const int rounds = recorded_.rounds();
    const int begin = fold * rounds / options_.folds;
    const int end = (fold + 1) * rounds / options_.folds;
    std::vector<int> inside;
    std::vector<int> outside;
    for (int r = 0; r < rounds; ++r) (r >= begin && r < end ? inside : outside).push_back(r);
    const DelayTable others = recorded_.with_rounds(outside);
    return {others,
            Arena(others, arena(options_.search_resamples, kSearchSeed)),
            Arena(recorded_.with_rounds(inside), arena(options_.score_resamples, 0))};
  }

  /// The best of a family on an arena; nothing if there is none or the search was interrupted.
  LineResult search(const std::string& name,
                    const std::vector<TuneFamily>& families,
                    const Arena& arena,
                    const std::string& part) {
    LineSearch search;
    search.arena = &arena;
    search.control = control_;
    search.family = name;
    search.done = done_;
    search.share = share_;
    search.what = fmt::format("{}, {}", name, part);
    const auto family = std::ranges::find(families, name, &TuneFamily::name);
    LineResult found = search_lines(family->lines, search);
    done_ += share_;
    tuning_.interrupted = found.interrupted;
    return found;
  }

  std::optional<TunedScheme> tune_family(const std::string& name,
                                         const std::vector<TuneFamily>& families) {
    LineResult found = search(name, families, whole_, "all rounds");
    tuning_.trials.insert(tuning_.trials.end(), found.trials.begin(), found.trials.end());
    if (!found.best || tuning_.interrupted) return std::nullopt;
    TunedScheme tuned;
    tuned.family = name;
    tuned.candidate = found.best->candidate;
    tuned.info = found.best->info;
    tuned.left_out = left_out(tuned.candidate);
    tuned.scores.assign(static_cast<std::size_t>(options_.score_resamples), 0);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const std::vector<TuneFamily> here = tune_families(folds_[f].others, limits());
      const std::string part = fmt::format("fold {} of {}", f + 1, folds_.size());
      const LineResult best = search(name, here, folds_[f].tuned_on, part);
      if (!best.best || tuning_.interrupted) return std::nullopt;
      if (!add_scores(*best.best, folds_[f].scored_on, tuned)) return std::nullopt;
    }
    tuned.seconds_per_job = estimate(
        tuned.scores, variance_ratio(rounds_played(tuned, options_), recorded_.rounds(), options_));
    return tuned;
  }

  std::vector<int> left_out(const Candidate& candidate) const {
    std::vector<int> out;
    for (int i = 0; i < recorded_.workers() && !candidate.workers.empty(); ++i) {
      if (!std::ranges::binary_search(candidate.workers, i)) out.push_back(i);
    }
    return out;
  }

  /// Plays what was found without a fold on that fold. @return false: interrupted, or it never ends
  /// there (a worker that is waited for has died)
  bool add_scores(const Trial& trial, const Arena& arena, TunedScheme& tuned) {
    const auto resamples = static_cast<std::size_t>(arena.resamples());
    std::vector<double> seconds(resamples);
    std::vector<double> limits(resamples);
    const auto play_one = [&](std::size_t b) {
      const int resample = static_cast<int>(b);
      const auto played = arena.play(trial.candidate, resample, options_.jobs);
      seconds[b] = played ? played->result.total.count() : kNever.count();
      limits[b] = arena.limit(resample, options_.jobs, trial.info.jobs_per_round);
    };
    tuning_.interrupted =
        !parallel_for(resamples, control_.threads, control_.interrupted, play_one);
    const double share = 1.0 / (options_.folds * options_.jobs);
    for (std::size_t b = 0; b < resamples; ++b) {
      tuned.scores[b] += seconds[b] * share;
      tuned.limit += limits[b] * share / static_cast<double>(resamples);
    }
    tuned.folds.push_back(trial.info.label());
    return !tuning_.interrupted && std::ranges::count(seconds, kNever.count()) == 0;
  }

  const DelayTable& recorded_;
  const TuneOptions& options_;
  const SearchControl& control_;
  Arena whole_;
  std::vector<Fold> folds_;
  double done_ = 0;
  double share_ = 1;
  Tuning tuning_;
};

Expected<void> check(const DelayTable& recorded, const TuneOptions& options) {
  if (options.jobs < 1 || options.search_resamples < 1 || options.score_resamples < 2) {
    return invalid("tuning needs at least 1 job, 1 resample to search on and 2 to score on");
  }
  if (options.block < 1) {
    return invalid("tuning resamples rounds in blocks; a block has at least 1 round");
  }
  if (options.folds < 2) {
    return invalid(fmt::format("{} folds are not allowed; at least 2", options.folds));
  }
  if (recorded.rounds() < 2 * options.folds) {
    return invalid(fmt::format("{} recorded rounds are too few for {} folds; at least {} rounds",
                               recorded.rounds(),
                               options.folds,
                               2 * options.folds));
  }
  const std::vector<std::string> names = tune_family_names({.workers = recorded.workers(),
                                                            .models = 16,
                                                            .storage = 1,
                                                            .most_jobs_per_round = 16,
                                                            .max_residual = options.max_residual});
  for (const std::string& name : options.schemes) {
    if (std::ranges::count(names, name) == 0) return invalid(unknown_name("scheme", name, names));
  }
  return {};
}

}  // namespace

Estimate difference(const TunedScheme& a, const TunedScheme& b, const Tuning& tuning) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < a.scores.size(); ++i) gaps.push_back(a.scores[i] - b.scores[i]);
  const double played =
      std::max(rounds_played(a, tuning.options), rounds_played(b, tuning.options));
  return estimate(gaps, variance_ratio(played, tuning.recorded_rounds, tuning.options));
}

Expected<Tuning> tune(const DelayTable& recorded,
                      const TuneOptions& options,
                      const SearchControl& control) {
  if (auto good = check(recorded, options); !good) return Unexpected(good.error());
  return Tuner(recorded, options, control).run();
}

}  // namespace paceline
