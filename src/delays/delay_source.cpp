#include "paceline/check.hpp"
#include "paceline/delays.hpp"

namespace paceline {

void DelaySource::response_times(Round round,
                                 std::span<const double> loads,
                                 std::span<double> took) const {
  PACELINE_CHECK(static_cast<int>(loads.size()) == workers() && took.size() == loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    took[i] = delay(round, WorkerId{static_cast<int>(i)}).at(loads[i]).count();
  }
}

}  // namespace paceline
