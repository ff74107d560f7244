// A result that may be an error is looked at.
#include "paceline/close_policy.hpp"

#ifdef MUST_NOT_COMPILE
void wrong() { paceline::make_close_policy("eager"); }
#else
bool right() { return paceline::make_close_policy("eager").has_value(); }
#endif
