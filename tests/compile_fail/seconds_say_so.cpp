// A bare number is no time.
#include "paceline/ids.hpp"

#ifdef MUST_NOT_COMPILE
paceline::Seconds wrong() { return 3.0; }
#else
paceline::Seconds right() { return paceline::Seconds{3.0}; }
#endif
