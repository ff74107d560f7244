// Checks of the caller's logic, never of input: input that may be wrong comes back as Expected
// (expected.hpp).
#pragma once

#include <stdexcept>
#include <string>

namespace paceline {

/// A bug of the caller: a broken precondition.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

[[noreturn]] void contract_violated(const char* condition, const char* file, int line);

}  // namespace detail
}  // namespace paceline

#define PACELINE_CHECK(condition)                                            \
  do {                                                                       \
    if (!(condition)) {                                                      \
      ::paceline::detail::contract_violated(#condition, __FILE__, __LINE__); \
    }                                                                        \
  } while (false)

#ifdef NDEBUG
#define PACELINE_DCHECK(condition) \
  do {                             \
  } while (false)
#else
#define PACELINE_DCHECK(condition) PACELINE_CHECK(condition)
#endif
