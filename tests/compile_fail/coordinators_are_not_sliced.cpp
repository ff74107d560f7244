// A polymorphic value is copied with clone() and not through its base.
#include "paceline/coordinator.hpp"

#ifdef MUST_NOT_COMPILE
void wrong(paceline::Coordinator& to, const paceline::Coordinator& from) { to = from; }
#else
std::unique_ptr<paceline::Coordinator> right(const paceline::Coordinator& from) {
  return from.clone();
}
#endif
