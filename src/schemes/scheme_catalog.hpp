// The entries of all schemes; a new scheme adds one line here and one in scheme_catalog.cpp.
#pragma once

#include "schemes/scheme_entry.hpp"

namespace paceline {

SchemeEntry uncoded_entry();
SchemeEntry gc_entry();
SchemeEntry sr_sgc_entry();
SchemeEntry m_sgc_entry();
SchemeEntry partial_entry();
SchemeEntry partial_gc_entry();
SchemeEntry nested_entry();
SchemeEntry clusters_entry();

}  // namespace paceline
