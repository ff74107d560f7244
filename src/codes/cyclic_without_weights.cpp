#include "codes/cyclic_without_weights.hpp"

#include <algorithm>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {

GradientCode cyclic_without_weights(std::string name, int workers, int stragglers) {
  GradientCode code;
  code.name = std::move(name);
  code.chunks = workers;
  code.tolerance = stragglers;
  code.load = static_cast<double>(stragglers + 1) / workers;
  code.chunk_size.assign(static_cast<std::size_t>(workers), 1.0 / workers);
  for (int i = 0; i < workers; ++i) {  // chunks i ... i+s, some of them past the last one
    const int count = std::min(stragglers + 1, workers - i);
    std::vector<Term> terms = {{.chunk = ChunkId{i}, .count = count}};
    if (count <= stragglers)
      terms.push_back({.chunk = ChunkId{0}, .count = stragglers + 1 - count});
    code.rows.emplace_back(std::move(terms));
  }
  code.decode = [](const WorkerSet&) -> std::optional<Combination> {
    const bool has_weights = false;
    PACELINE_CHECK(has_weights);
    return std::nullopt;
  };
  return code;
}

}  // namespace paceline
