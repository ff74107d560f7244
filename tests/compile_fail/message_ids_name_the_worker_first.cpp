// Worker and round of a message cannot be swapped.
#include "paceline/message.hpp"

#ifdef MUST_NOT_COMPILE
paceline::MessageId wrong() { return {paceline::Round{1}, paceline::WorkerId{2}, 0}; }
#else
paceline::MessageId right() { return {paceline::WorkerId{2}, paceline::Round{1}, 0}; }
#endif
