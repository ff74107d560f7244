#include "codes/code_entry.hpp"

#include <fmt/format.h>

#include <utility>

namespace paceline {

Tolerance read_tolerance(ParameterText& parameters, int workers) {
  if (!parameters.has("s") && !parameters.has("residual")) {
    parameters.fail(
        fmt::format("needs s= (0 <= s <= {}), the most workers a round may go without, or "
                    "residual=, the most it may leave",
                    workers - 1));
  }
  Tolerance tolerance;
  tolerance.stragglers = parameters.integer("s", 0, workers - 1, workers - 1);
  tolerance.most_residual = parameters.number("residual", 0, 1, 1);
  return tolerance;
}

std::vector<CodeParameter> with_tolerance(std::vector<CodeParameter> own) {
  std::vector<CodeParameter> all = {
      {"s", "0 <= s <= n-1", "stragglers a round may go without"},
      {"residual", "0 <= residual <= 1", "wait until a round leaves no more than this"}};
  for (CodeParameter& parameter : own) all.push_back(std::move(parameter));
  return all;
}

std::string nearest_that_fit(int value, int most, bool (*fits)(int)) {
  int below = value - 1;
  while (below >= 1 && !fits(below)) --below;
  int above = value + 1;
  while (above <= most && !fits(above)) ++above;
  if (below < 1 && above > most) return "none";
  if (below < 1) return fmt::format("{}", above);
  if (above > most) return fmt::format("{}", below);
  return fmt::format("{} or {}", below, above);
}

}  // namespace paceline
