#include "paceline/probe_tables.hpp"

#include "paceline/check.hpp"

namespace paceline {

ProbeTables::ProbeTables(const ProbePlan& plan) : plan_(plan) {
  for (const double load : plan.loads) tables_.push_back({.workers = plan.workers, .load = load});
}

void ProbeTables::add(const RoundRecord& record) {
  const int k = plan_.load_of(record.round);
  if (k < 0) return;
  DelayProfile& table = tables_[static_cast<std::size_t>(k)];
  for (const Seconds time : record.answers.time) {
    PACELINE_CHECK(time != kNever);  // a probe waits for all
    table.seconds.push_back(time.count());
  }
  ++table.rounds;
}

}  // namespace paceline
