#include "paceline/coordinator.hpp"

namespace paceline {

double Order::load() const {
  double sum = 0;
  for (const Task& task : tasks) sum += task.load;
  return sum;
}

}  // namespace paceline
