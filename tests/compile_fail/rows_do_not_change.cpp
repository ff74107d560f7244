// Copies of a row share its terms, so nobody may change them.
#include "paceline/message.hpp"

#ifdef MUST_NOT_COMPILE
void wrong(paceline::Row& row) { row.terms()[0].weight = 2; }
#else
double right(const paceline::Row& row) { return row.terms()[0].weight; }
#endif
