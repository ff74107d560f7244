// A number becomes an id only where that is said.
#include "paceline/worker_set.hpp"

#ifdef MUST_NOT_COMPILE
bool wrong(const paceline::WorkerSet& set) { return set.contains(3); }
#else
bool right(const paceline::WorkerSet& set) { return set.contains(paceline::WorkerId{3}); }
#endif
