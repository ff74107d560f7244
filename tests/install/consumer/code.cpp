// Decodes what four of six workers sent: all that a project needs that uses a code and nothing
// else.
#include <cstdio>
#include <vector>

#include "paceline/code_catalog.hpp"

int main() {
  using namespace paceline;
  const GradientCode code = make_code("cyclic:s=2", CodeContext{.workers = 6}).value();
  WorkerSet answered = WorkerSet::all(6);
  answered.erase(WorkerId{1});
  answered.erase(WorkerId{4});
  std::vector<std::vector<float>> messages(6);  // every chunk's gradient is 1
  answered.for_each([&](WorkerId worker) {
    double sum = 0;
    for (const Term& term : code.row(worker).terms()) sum += term.weight * term.count;
    messages[worker.index()] = {static_cast<float>(sum)};
  });
  std::vector<float> gradient(1);
  apply(code, code.decode(answered).value(), messages, gradient);
  std::printf("decoded %.0f of %d\n", static_cast<double>(gradient[0]), code.chunks);
}
