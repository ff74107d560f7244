// In place of server.cpp where the HTTP library is missing.
#include "paceline/dashboard.hpp"

namespace paceline {

Expected<std::unique_ptr<Dashboard>> Dashboard::open(const DashboardAddress&, const LiveState&) {
  return invalid(
      "this build has no dashboard; install libcpp-httplib-dev and build with "
      "-DPACELINE_DASHBOARD=ON");
}

}  // namespace paceline
