#include "cluster_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace paceline::app {
namespace {

const std::vector<std::string> kQuantileNames = {
    "least", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "greatest"};

/// Bursts of 1, 2, ... rounds that have a column of their own; the last one is "and more".
constexpr std::size_t kBurstColumns = 6;

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "-";
}

void print_quantiles(const Description& found) {
  fmt::print("\nresponse time, s\n ");
  for (const std::string& name : kQuantileNames) fmt::print(" {:>9}", name);
  fmt::print("\n ");
  for (const double seconds : found.quantiles) fmt::print(" {:>9.4g}", seconds);
  fmt::print("\n");
}

void print_stragglers(const Description& found) {
  const Straggling& straggling = found.straggling;
  fmt::print("\nstragglers: over {:.4g} times the fastest of their round\n", 1 + found.mu);
  fmt::print("  share            {}\n", percent(straggling.share));
  fmt::print("  straggle again   {} of those that straggled in the round before\n",
             percent(straggling.again));
  std::vector<int> bursts(kBurstColumns, 0);
  for (std::size_t k = 0; k < straggling.bursts.size(); ++k) {
    bursts[std::min(k, kBurstColumns - 1)] += straggling.bursts[k];
  }
  fmt::print("  bursts, rounds  ");
  for (std::size_t k = 0; k < kBurstColumns; ++k) {
    fmt::print(" {:>7}", fmt::format("{}{}", k + 1, k + 1 == kBurstColumns ? "+" : ""));
  }
  fmt::print("\n  how many        ");
  for (const int count : bursts) fmt::print(" {:>7}", count);
  const std::vector<int> usual = straggling.usual_stragglers();
  constexpr std::size_t shown = 16;
  if (usual.empty()) {
    fmt::print("\n  usual ones       none\n");
  } else if (usual.size() <= shown) {
    fmt::print("\n  usual ones       workers {} (in over half the rounds)\n",
               fmt::join(usual, ", "));
  } else {
    fmt::print("\n  usual ones       {} of the workers (in over half the rounds)\n", usual.size());
  }
}

void print_fits(const Description& found) {
  if (found.fits.empty()) {
    fmt::print("\nall times are equal: constant:base={:.6g}\n", found.cluster.base.seconds.front());
    return;
  }
  fmt::print("\n{:>10}  {:>8}  {:>10}  {:>8}  model at zero load (for --delays)\n",
             "AIC",
             "distance",
             "stragglers",
             "again");
  fmt::print("{:>10}  {:>8}  {:>10}  {:>8}  measured\n",
             "-",
             "-",
             percent(found.straggling.share),
             percent(found.straggling.again));
  for (const DelayFit& fit : found.fits) {
    fmt::print("{:>10.1f}  {:>8.4f}  {:>10}  {:>8}  {}\n",
               fit.aic,
               fit.distance,
               percent(fit.straggling.share),
               percent(fit.straggling.again),
               fit.model);
  }
  fmt::print("\ndistance: Kolmogorov-Smirnov; stragglers, again: of draws of the model\n");
}

}  // namespace

Expected<Description> describe(MeasuredCluster cluster, double mu) {
  Description found;
  found.cluster = std::move(cluster);
  found.mu = mu;
  const DelayProfile& base = found.cluster.base;
  found.quantiles = quantiles(base, kQuantiles);
  found.straggling = straggling(base, mu);
  found.spread = worker_spread(base);
  const double slope = found.cluster.line ? found.cluster.line->slope : 0;
  const auto zero = at_zero_load(base, slope);
  if (!zero) return Unexpected(zero.error());
  found.fits = fit_delay_models(*zero, mu, slope);
  return found;
}

void print_description(const Description& found, const std::string& title) {
  const DelayProfile& base = found.cluster.base;
  fmt::print(
      "{}: {} rounds, {} workers, load {:.4g}\n", title, base.rounds, base.workers, base.load);
  if (found.cluster.line) {
    fmt::print("{} loads: {:.6g} s + {:.6g} s per unit of load\n",
               found.cluster.files.size(),
               found.cluster.line->intercept,
               found.cluster.line->slope);
  }
  print_quantiles(found);
  fmt::print("speeds of the workers differ: spread {:.3f}\n", found.spread);
  print_stragglers(found);
  print_fits(found);
}

}  // namespace paceline::app
