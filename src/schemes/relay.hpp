// The relay scheme: finishes a sequence of jobs exactly, with plain sums and, as a rule, one vector
// per worker and round. See relay.cpp for the idea.
#pragma once

#include "schemes/scheme_entry.hpp"

namespace paceline {

/// "relay:T=3" finds its setting on line. Any part of a setting fixes all of it:
/// "relay:T=1,r0=2,x=0.2,due=4,mid=1,split=0,speed=0,bundle=1,accept_late=0"; these are the
/// defaults then.
SchemeEntry relay_entry();

/// "gc:s=auto": gradient coding by repetition that finds the number of groups on line, by shadow
/// runs as relay does.
Expected<std::unique_ptr<Scheme>> make_automatic_repetition(const SchemeContext& context);

}  // namespace paceline
