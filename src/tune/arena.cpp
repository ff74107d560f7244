#include "tune/arena.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paceline/random.hpp"

namespace paceline {
namespace {

constexpr int kReserve = 10;  // rounds for rescue copies, which meet the luck of the next round

}  // namespace

Arena::Arena(const DelayTable& recorded, const ArenaOptions& options) : options_(options) {
  const bool as_it_is = options.block == 0;
  const int rounds = options.jobs + options.models + kReserve;
  for (int b = 0; b < (as_it_is ? 1 : options.resamples); ++b) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(b);
    DelayTable table = as_it_is ? recorded
                                : recorded.with_rounds(bootstrap_rounds(
                                      recorded.rounds(), rounds, seed, options.block));
    if (options.shuffle_workers) {
      RandomStream random(seed, "shuffled workers");
      table = table.with_workers(random.permutation(recorded.workers()));
    }
    tables_.push_back(std::move(table));
  }
}

Expected<Played> Arena::play(const Candidate& candidate, int resample, int jobs) const {
  PlayOptions options = options_.play;
  options.jobs = jobs;
  options.models = options_.models;
  options.close = candidate.close;
  const DelayTable& all = table(resample);
  auto played =
      candidate.workers.empty()
          ? paceline::play(candidate.scheme, all, options)
          : paceline::play(candidate.scheme, all.with_workers(candidate.workers), options);
  constexpr double kRounding = 1e-9;
  if (played && played->info.storage > options_.storage + kRounding) {
    return invalid(fmt::format("{} stores {:.4g} of the data on a worker; allowed is {:.4g}",
                               played->info.label(),
                               played->info.storage,
                               options_.storage));
  }
  if (played && played->result.mean_residual > options_.max_residual + kRounding) {
    return invalid(
        fmt::format("{} leaves {:.4g} of the gradient, even with all answers; allowed "
                    "is {:.4g}",
                    played->info.label(),
                    played->result.mean_residual,
                    options_.max_residual));
  }
  return played;
}

double Arena::limit(int resample, int jobs, int jobs_per_round) const {
  return clairvoyant_total(table(resample), jobs, jobs_per_round).count();
}

}  // namespace paceline
