#include <set>
#include <string>
#include <utility>

#include "paceline/run_reports.hpp"

namespace paceline {

RunReport as_report(const Comparison& comparison) {
  RunReport report;
  report.kind = "comparison";
  std::set<std::pair<std::string, bool>> kept;
  for (const ComparedScheme& scheme : comparison.schemes) {
    SchemeRun run;
    run.label = scheme.info.label();
    if (scheme.candidate.close != "eager") run.label += ", " + scheme.candidate.close;
    run.load = scheme.info.load;
    run.decode_delay = scheme.info.decode_delay;
    run.jobs_per_round = scheme.info.jobs_per_round;
    run.jobs = comparison.options.jobs;
    run.total = Seconds{scheme.mean_seconds()};
    run.limit = Seconds{scheme.mean_limit()};
    int stragglers = 0;
    for (const RoundRecord& record : scheme.history) {
      if (record.busy == 0) continue;
      ++run.rounds;
      run.wait_outs += record.waited_out ? 1 : 0;
      stragglers += record.stragglers.size();
    }
    if (run.rounds > 0) run.mean_stragglers = static_cast<double>(stragglers) / run.rounds;
    // Rounds are large: those of one row of each scheme are kept, bundled and not.
    if (kept.emplace(scheme.info.name, scheme.info.jobs_per_round > 1).second) {
      for (const RoundRecord& record : scheme.history) {
        if (record.busy > 0) run.history.push_back(summarize(record));
      }
    }
    report.schemes.push_back(std::move(run));
  }
  return report;
}

}  // namespace paceline
