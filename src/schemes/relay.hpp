// The relay scheme: finishes a sequence of jobs exactly, with plain sums and, as a rule, one vector
// per worker and round. See relay.cpp for the idea.
#pragma once

#include "schemes/scheme_entry.hpp"

namespace paceline {

/// "relay:T=1,r0=2,x=0,due=8,mid=2,split=0,speed=0,bundle=1,accept_late=0"
SchemeEntry relay_entry();

}  // namespace paceline
