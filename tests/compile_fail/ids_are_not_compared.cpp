// A job and a round count alike at first; comparing them is a mistake all the same.
#include "paceline/ids.hpp"

#ifdef MUST_NOT_COMPILE
bool wrong(paceline::JobId job, paceline::Round round) { return job == round; }
#else
bool right(paceline::JobId job, paceline::JobId other) { return job == other; }
#endif
