#include "codes/amplification_limit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

bool worth_using(const Combination& combination, int chunks, double limit) {
  return combination.amplification <= limit &&
         combination.residual * chunks <= kWorstResidual * kWorstResidual;
}

}  // namespace

Expected<GradientCode> limit_amplification(GradientCode bare, double limit) {
  GradientCode code = std::move(bare);
  const int n = code.workers();
  const auto enough = [n, s = code.tolerance](const WorkerSet& answered) {
    PACELINE_CHECK(answered.workers() == n);
    return n - answered.size() <= s;
  };
  if (std::isinf(limit)) {
    code.decodable = enough;
    code.first_decodable = [count = n - code.tolerance](Arrivals& arrivals) {
      return arrivals.nth(count);
    };
    code.decode = [enough, cached = cached_decoder(code.decode)](const WorkerSet& answered) {
      return enough(answered) ? cached(answered) : std::nullopt;
    };
    return code;
  }

  if (const auto all = code.decode(WorkerSet::all(n)); !worth_using(*all, code.chunks, limit)) {
    return invalid(
        fmt::format("code '{}' at n = {}, s = {}: even when all workers answer the amplification "
                    "is {:.3g}, above the limit {:.3g}; the nearest limit is {:.3g}",
                    code.name,
                    n,
                    code.tolerance,
                    all->amplification,
                    limit,
                    std::ceil(all->amplification)));
  }
  const auto cached = cached_decoder(
      [decode = std::move(code.decode), chunks = code.chunks, limit](const WorkerSet& answered) {
        std::optional<Combination> combination = decode(answered);
        if (!worth_using(*combination, chunks, limit)) combination.reset();
        return combination;
      });
  code.decode = [enough, cached](const WorkerSet& answered) {
    return enough(answered) ? cached(answered) : std::nullopt;
  };
  code.decodable = [decode = code.decode](const WorkerSet& answered) {
    return decode(answered).has_value();
  };
  return code;
}

}  // namespace paceline
