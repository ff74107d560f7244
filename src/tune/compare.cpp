#include "paceline/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "paceline/search_space.hpp"
#include "paceline/suggest.hpp"
#include "tune/line_search.hpp"
#include "tune/parallel.hpp"

namespace paceline {
namespace {

constexpr int kTuningResamples = 6;
constexpr std::uint64_t kFirstTuningSeed = 1'000'000;  // never scored

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What one row is to hold: a candidate, or a family to find one in.
struct Row {
  std::optional<Candidate> given;
  SearchFamily family;
  CloseLists closes;
};

/// The readings of may_close that "all" sets side by side.
constexpr CloseRule kRules[] = {CloseRule::kDecodable, CloseRule::kModel, CloseRule::kPublished};

class Comparer {
 public:
  Comparer(const DelayTable& recorded, const CompareOptions& options, const SearchControl& control)
      : options_(options),
        control_(control),
        workers_(recorded.workers()),
        scored_(recorded, arena_options(options.seeds, 0, 1, 1)),
        tuning_(recorded,
                arena_options(
                    kTuningResamples, kFirstTuningSeed, options.storage, options.max_residual)) {
    comparison_.workers = workers_;
    comparison_.recorded_rounds = recorded.rounds();
    comparison_.options = options;
  }

  Expected<Comparison> run() {
    auto rows = make_rows();
    if (!rows) return Unexpected(rows.error());
    for (std::size_t i = 0; i < rows->size() && !comparison_.interrupted; ++i) {
      if (auto added = add((*rows)[i], i, rows->size()); !added) return Unexpected(added.error());
    }
    return std::move(comparison_);
  }

 private:
  ArenaOptions arena_options(int resamples,
                             std::uint64_t first_seed,
                             double storage,
                             double max_residual) const {
    return {.block = options_.block,
            .resamples = resamples,
            .first_seed = first_seed,
            .shuffle_workers = options_.shuffle_workers,
            .jobs = options_.jobs,
            .models = options_.max_delay + 1,
            .storage = storage,
            .max_residual = max_residual,
            .play = options_.play};
  }

  SearchLimits limits() const {
    return {.workers = workers_,
            .models = options_.max_delay + 1,
            .storage = options_.storage,
            .fewest_jobs_per_round = options_.fewest_jobs_per_round,
            .most_jobs_per_round = options_.most_jobs_per_round,
            .max_residual = options_.max_residual};
  }

  Expected<std::vector<Row>> make_rows() const {
    std::vector<Row> rows;
    const std::vector<SearchFamily> families = search_space(limits());
    for (const std::string& list : options_.schemes) {
      for (const std::string& text : split_schemes(list)) {
        const auto family = std::ranges::find(families, text, &SearchFamily::name);
        if (text == "all") {
          add_all(rows);
        } else if (family != families.end()) {
          rows.push_back({{}, *family, closes_for(*family)});
        } else if (text.find(':') == std::string::npos) {
          return unknown(text, families);
        } else {
          add_given(text, rows);
        }
      }
    }
    return rows;
  }

  Unexpected<Error> unknown(const std::string& text,
                            const std::vector<SearchFamily>& families) const {
    SearchLimits unlimited = limits();
    unlimited.storage = 1;
    unlimited.models = unlimited.most_jobs_per_round = 16;
    unlimited.fewest_jobs_per_round = 1;
    std::vector<std::string> names = {"all"};
    for (const SearchFamily& family : search_space(unlimited)) names.push_back(family.name);
    if (std::ranges::find(names, text) == names.end()) {
      return invalid(unknown_name("scheme", text, names));
    }
    std::string possible;
    for (const SearchFamily& family : families) possible += " " + family.name;
    return invalid(
        fmt::format("{} has no setting with at most {} jobs in flight, {:.4g} of the data per "
                    "worker and the jobs per round asked for; these have:{}",
                    text,
                    options_.max_delay + 1,
                    options_.storage,
                    possible));
  }

  void add_given(const std::string& text, std::vector<Row>& rows) const {
    const std::vector<std::string> eager = {"eager"};
    for (const std::string& close : options_.closes.empty() ? eager : options_.closes) {
      rows.push_back({Candidate{text, close, {}}, {}, {}});
    }
  }

  CloseLists closes_for(const SearchFamily& family) const {
    if (!options_.closes.empty()) {
      CloseLists each;
      for (const std::string& close : options_.closes) each.push_back({close});
      return each;
    }
    return family.only_eager ? CloseLists{{"eager"}} : searched_closes();
  }

  static CloseLists closes_for(const SearchFamily& family, CloseRule rule) {
    CloseLists lists = searched_closes(rule);
    if (!family.only_eager || rule == CloseRule::kPublished) return lists;
    return {{lists.front().front()}};
  }

  /// Every family, one job per round and bundled, with each rule.
  void add_all(std::vector<Row>& rows) const {
    SearchLimits single = limits();
    single.most_jobs_per_round = 1;
    SearchLimits bundled = limits();
    bundled.fewest_jobs_per_round = std::max(2, bundled.fewest_jobs_per_round);
    for (const SearchLimits& some : {single, bundled}) {
      if (some.fewest_jobs_per_round > some.most_jobs_per_round) continue;
      for (const SearchFamily& family : search_space(some)) {
        if (!options_.closes.empty()) {
          rows.push_back({{}, family, closes_for(family)});
          continue;
        }
        for (const CloseRule rule : kRules) {
          if (rule == kRules[0] || family.knows_rules) {
            rows.push_back({{}, family, closes_for(family, rule)});
          }
        }
      }
    }
  }

  Expected<void> add(const Row& row, std::size_t index, std::size_t rows) {
    ComparedScheme compared;
    if (row.given) {
      compared.candidate = *row.given;
    } else {
      auto found = tune(row, index, rows);
      if (!found) return {};
      compared.candidate = std::move(*found);
      compared.tuned = true;
    }
    auto played = play(compared);
    if (!played) return played;
    if (comparison_.interrupted) return {};
    comparison_.schemes.push_back(std::move(compared));
    return {};
  }

  std::optional<Candidate> tune(const Row& row, std::size_t index, std::size_t rows) {
    LineSearch search;
    search.arena = &tuning_;
    search.must_train = false;
    search.control = control_;
    search.family = row.family.name;
    search.done = static_cast<double>(index) / static_cast<double>(rows);
    search.share = 1.0 / static_cast<double>(rows);
    search.what = fmt::format("{} ({} of {})", row.family.name, index + 1, rows);
    LineResult found = search_lines(candidate_lines(row.family, row.closes), search);
    comparison_.interrupted = found.interrupted;
    comparison_.trials.insert(comparison_.trials.end(), found.trials.begin(), found.trials.end());
    if (found.interrupted) return std::nullopt;
    if (!found.best) {
      comparison_.without.push_back(
          fmt::format("{} with {}: no setting can be played", row.family.name, row.closes[0][0]));
      return std::nullopt;
    }
    return found.best->candidate;
  }

  Expected<void> play(ComparedScheme& compared) {
    const auto resamples = static_cast<std::size_t>(scored_.resamples());
    compared.seconds.resize(resamples);
    compared.limit_seconds.resize(resamples);
    auto first = record(compared);
    if (!first) return Unexpected(first.error());
    compared.info = first->info;
    std::vector<std::optional<Error>> errors(resamples);
    const auto play_one = [&](std::size_t b) {
      auto played =
          b == 0 ? first : scored_.play(compared.candidate, static_cast<int>(b), options_.jobs);
      if (!played) {
        errors[b] = played.error();
        return;
      }
      compared.seconds[b] = played->result.total.count();
      compared.limit_seconds[b] =
          scored_.limit(static_cast<int>(b), options_.jobs, compared.info.jobs_per_round);
    };
    comparison_.interrupted =
        !parallel_for(resamples, control_.threads, control_.interrupted, play_one);
    for (const auto& error : errors) {
      if (error) return Unexpected(*error);
    }
    return {};
  }

  /// The first resample, with everything that happened.
  Expected<Played> record(ComparedScheme& compared) const {
    if (auto fits = check_models(compared.candidate); !fits) return Unexpected(fits.error());
    PlayOptions options = options_.play;
    options.jobs = options_.jobs;
    options.models = options_.max_delay + 1;
    options.close = compared.candidate.close;
    options.observer = [&](const RoundRecord& round) { compared.history.push_back(round); };
    return paceline::play(compared.candidate.scheme, scored_.table(0), options);
  }

  /// A scheme as given may keep too many jobs in flight.
  Expected<void> check_models(const Candidate& candidate) const {
    const auto scheme = make_scheme(candidate.scheme,
                                    {.workers = workers_,
                                     .jobs = options_.jobs,
                                     .keep_promise = false,
                                     .message_type = options_.play.message_type});
    if (!scheme) return Unexpected(scheme.error());
    const int needed = (*scheme)->info().open_jobs;
    if (needed <= options_.max_delay + 1) return {};
    return invalid(
        fmt::format("{} keeps {} jobs in flight; max-delay={} allows {}, max-delay={} "
                    "would do",
                    candidate.scheme,
                    needed,
                    options_.max_delay,
                    options_.max_delay + 1,
                    needed - 1));
  }

  const CompareOptions& options_;
  const SearchControl& control_;
  int workers_;
  Arena scored_;
  Arena tuning_;
  Comparison comparison_;
};

}  // namespace

double ComparedScheme::mean_seconds() const { return mean(seconds); }

double ComparedScheme::mean_limit() const { return mean(limit_seconds); }

double ComparedScheme::sd_seconds() const {
  if (seconds.size() < 2) return 0;
  const double center = mean(seconds);
  double sum = 0;
  for (const double value : seconds) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(seconds.size() - 1));
}

Expected<Comparison> compare(const DelayTable& recorded,
                             const CompareOptions& options,
                             const SearchControl& control) {
  if (options.jobs < 1) {
    return invalid(fmt::format("{} jobs are not allowed; jobs >= 1", options.jobs));
  }
  if (options.max_delay < 0 || options.seeds < 1 || options.block < 0) {
    return invalid(
        fmt::format("max-delay={}, seeds={}, bootstrap={}: allowed are max-delay >= 0, "
                    "seeds >= 1 and blocks of at least 1 round (0: no resampling)",
                    options.max_delay,
                    options.seeds,
                    options.block));
  }
  return Comparer(recorded, options, control).run();
}

}  // namespace paceline
