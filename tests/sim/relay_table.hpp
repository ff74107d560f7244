// Totals of relay with fixed settings on measured profiles, and what they were when relay was
// designed: medians over 20 bootstrapped profiles (seeds 0 ... 19), 200 jobs, one per round,
// stateless workers whose late answers teach but do not count. Source: relay specification, 10.1.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/simulator.hpp"
#include "schemes/relay.hpp"

namespace paceline::test {

struct TableColumn {
  const char* profile;  ///< a shared file
  double slope;         ///< seconds per unit of load
};

inline constexpr std::array<TableColumn, 4> kRelayColumns = {
    TableColumn{"traces/lambda-cnn-long-canada-b2048-load0.000.csv", 1.12175331},
    TableColumn{"traces/lambda-cnn-long-canada-b2048-load0.000.csv", 16 * 1.12175331},
    TableColumn{"traces/lambda-cnn-mid-canada-b2048-load0.000.csv", 1.09888913},
    TableColumn{"traces/lambda-cnn-short2-sydney-b256-load0.000.csv", 0.30876902},
};

struct TableRow {
  const char* scheme;
  std::array<double, 4> seconds;  ///< by column
};

inline constexpr std::array<TableRow, 6> kRelayTable = {
    TableRow{"relay:T=0,r0=8,x=0", {133.9, 239.1, 135.2, 391.2}},
    TableRow{"relay:T=0,r0=3,x=0", {142.1, 181.9, 151.0, 413.8}},
    TableRow{"relay:T=1,r0=4,x=0.2,due=8,mid=2", {132.0, 204.7, 133.2, 391.0}},
    TableRow{"relay:T=2,r0=4,x=0.4,due=8,mid=2", {130.9, 206.6, 131.8, 386.8}},
    TableRow{"relay:T=3,r0=3,x=0.7,due=8,mid=2", {130.2, 213.3, 131.0, 384.8}},
    TableRow{"relay:T=3,r0=1,x=0.4,due=4,mid=1", {137.6, 156.3, 144.1, 408.8}},
};

/// Seconds for 200 jobs on the bootstrapped profile. @pre texts and files are right
inline double relay_total(const char* text,
                          const DelayProfile& profile,
                          double slope,
                          std::uint64_t seed) {
  constexpr int kJobs = 200;
  constexpr int kRounds = 210;
  auto parameters = ParameterText::parse(text);
  SchemeContext context;
  context.workers = profile.workers;
  context.jobs = kJobs;
  auto scheme = relay_entry().make(parameters.value(), context);
  RoundOptions options;
  options.jobs = kJobs;
  options.models = scheme.value()->info().open_jobs;
  options.cancel_stragglers = false;
  auto coordinator = make_round_coordinator(
      std::move(scheme).value(), std::move(make_close_policy("eager").value()), options);
  const auto delays = make_replay(bootstrap(profile, kRounds, seed), {.slope = slope});
  return simulate(**coordinator, **delays).value().total.count();
}

/// Over the seeds 0 ... seeds-1.
inline double median_relay_total(const char* text,
                                 const DelayProfile& profile,
                                 double slope,
                                 int seeds) {
  std::vector<double> totals;
  for (int seed = 0; seed < seeds; ++seed) {
    totals.push_back(relay_total(text, profile, slope, static_cast<std::uint64_t>(seed)));
  }
  std::sort(totals.begin(), totals.end());
  const std::size_t middle = totals.size() / 2;
  return totals.size() % 2 == 1 ? totals[middle] : (totals[middle - 1] + totals[middle]) / 2;
}

}  // namespace paceline::test
