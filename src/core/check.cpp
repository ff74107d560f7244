#include "paceline/check.hpp"

#include <fmt/format.h>

namespace paceline::detail {

void contract_violated(const char* condition, const char* file, int line) {
  throw ContractViolation(fmt::format("contract violated: {} ({}:{})", condition, file, line));
}

}  // namespace paceline::detail
