// JSON texts of the report layer. The JSON library is slow to compile, so only json.cpp includes
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "paceline/coordinator.hpp"
#include "paceline/metrics.hpp"
#include "paceline/run_report.hpp"

namespace paceline {

/// Text as a JSON string, with its quotes.
std::string quoted(std::string_view text);

/// A line of something that happened to a worker.
std::string event_line(Round round, WorkerId worker, std::string_view what);

/// A line of metrics.jsonl, without its end.
std::string metrics_line(std::string_view scheme,
                         const RoundRecord& record,
                         std::span<const JobLoss> losses);

/// What the page's script draws. Safe inside a <script> element: no '<' is left in it.
std::string chart_data(const RunReport& report);

}  // namespace paceline
