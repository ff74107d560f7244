// Chrome's trace event format: what profilers of training jobs write.
#pragma once

#include <string>
#include <string_view>

#include "delays/column_names.hpp"
#include "paceline/delay_profile.hpp"

namespace paceline {

/// Reads complete events ("ph":"X") that name a round in their args. Times in the file's own unit,
/// which is the microsecond.
///
/// A synchronous job makes everybody wait for everybody, so a step as a whole takes all workers the
/// same time and says nothing about any of them. A worker's response time is therefore that of its
/// computing alone: from the first begin to the last end of its compute events in the step
/// (seconds=extent), or the time in which at least one of them runs (seconds=busy).
///
/// @param names  round: a key of args (step); worker: pid or pid/tid (pid); seconds: extent or busy
///               (extent); events: a part of the names that count (compute, if there are such
///               events, else all)
Expected<DelayProfile> parse_chrome_trace(std::string_view text,
                                          const std::string& name,
                                          const ColumnNames& names);

}  // namespace paceline
