#include <fmt/format.h>

#include <charconv>

#include "paceline/dashboard.hpp"

namespace paceline {

Expected<DashboardAddress> parse_dashboard_address(std::string_view text) {
  const auto refused = [text](std::string_view why) {
    return invalid(fmt::format(
        "dashboard address '{}' is not allowed: {}; :8080 for this machine only, HOST:8080 to be "
        "seen from others, :0 for a free port",
        text,
        why));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused("it has no colon before the port");
  DashboardAddress address;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return refused("an IPv6 address stands in brackets, as in [::1]:8080");
  }
  if (!host.empty()) address.host = host;
  const std::string_view port = text.substr(colon + 1);
  const char* end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, address.port);
  constexpr int kMostPort = 65535;
  if (error != std::errc{} || stop != end || address.port < 0 || address.port > kMostPort) {
    return refused(fmt::format("port '{}' is no number from 0 to {}", port, kMostPort));
  }
  return address;
}

}  // namespace paceline
