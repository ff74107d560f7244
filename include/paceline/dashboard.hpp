// The live page of a run: a small HTTP server on threads of its own that reads a LiveState.
// docs/dashboard.md says what it serves.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "paceline/expected.hpp"
#include "paceline/live_state.hpp"

namespace paceline {

struct DashboardAddress {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0: a free one
};

/// ":8080", "0.0.0.0:8080", "[::1]:8080"; without a host it is this machine's loopback.
Expected<DashboardAddress> parse_dashboard_address(std::string_view text);

/// The state as JSON and in Prometheus' text format 0.0.4 (docs/dashboard.md has the names).
std::string live_json(const LiveView& view);
std::string prometheus_text(const LiveView& view);

/// Answers GET and HEAD, and changes nothing, as long as it lives.
class Dashboard {
 public:
  /// @param state  outlives it
  /// @return an error of code kInvalid: the address is taken, or no address of this machine, or
  /// this build has no server
  static Expected<std::unique_ptr<Dashboard>> open(const DashboardAddress& address,
                                                   const LiveState& state);

  virtual ~Dashboard() = default;

  /// "http://127.0.0.1:8080/"
  virtual std::string url() const = 0;
};

}  // namespace paceline
