// Success without a value is looked at, too.
#include "paceline/parameters.hpp"

#ifdef MUST_NOT_COMPILE
void wrong(const paceline::ParameterText& text) { text.finish(); }
#else
bool right(const paceline::ParameterText& text) { return text.finish().has_value(); }
#endif
