#include "codes/parameters.hpp"

#include <fmt/format.h>

#include <utility>

#include "paceline/check.hpp"

namespace paceline {

Expected<void> check_workers_and_stragglers(int workers, int stragglers) {
  if (workers < 1) {
    return invalid(fmt::format("workers = {}: a code needs at least 1", workers));
  }
  if (stragglers < 0) {
    return invalid(fmt::format(
        "stragglers = {}: must be 0 ... {}; the nearest is 0", stragglers, workers - 1));
  }
  if (stragglers > workers - 1) {
    return invalid(
        fmt::format("stragglers = {} of {} workers: one worker must answer, so 0 ... {} is "
                    "allowed; the nearest is {}",
                    stragglers,
                    workers,
                    workers - 1,
                    workers - 1));
  }
  return {};
}

Expected<double> resolve_amplification_limit(double option) {
  if (option == 0) return promised_amplification(MessageType::kFloat32);
  if (!(option >= 1)) {
    return invalid(
        fmt::format("amplification_limit = {}: must be at least 1 (what plain sums have), or 0 for "
                    "the promised {:.3g}",
                    option,
                    promised_amplification(MessageType::kFloat32)));
  }
  return option;
}

GradientCode plain_code(std::string name, int workers, int stragglers) {
  PACELINE_CHECK(stragglers == 0 || stragglers == workers - 1);
  GradientCode code =
      make_fractional_repetition({.workers = workers, .stragglers = stragglers}).value();
  code.name = std::move(name);
  return code;
}

}  // namespace paceline
