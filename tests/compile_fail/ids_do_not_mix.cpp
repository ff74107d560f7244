// A worker is no chunk, though both are small integers.
#include "paceline/ids.hpp"

int holder(paceline::WorkerId worker) { return worker.value; }

#ifdef MUST_NOT_COMPILE
int wrong() { return holder(paceline::ChunkId{3}); }
#else
int right() { return holder(paceline::WorkerId{3}); }
#endif
