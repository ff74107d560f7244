// An id is no array index, unless it is asked for one.
#include <vector>

#include "paceline/ids.hpp"

#ifdef MUST_NOT_COMPILE
double wrong(const std::vector<double>& loads, paceline::WorkerId worker) { return loads[worker]; }
#else
double right(const std::vector<double>& loads, paceline::WorkerId worker) {
  return loads[worker.index()];
}
#endif
