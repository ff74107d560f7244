// Whether there is a value is asked in conditions, and never mistaken for the value.
#include "paceline/expected.hpp"

paceline::Expected<int> count();

#ifdef MUST_NOT_COMPILE
bool wrong() { return count(); }
#else
int right() { return count() ? 1 : 0; }
#endif
