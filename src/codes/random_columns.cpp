#include "codes/random_columns.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace paceline {

std::vector<std::vector<int>> bernoulli_columns(
    int workers, int chunks, double probability, bool covered, RandomStream& random) {
  std::vector<std::vector<int>> columns;
  for (int j = 0; j < chunks; ++j) {
    std::vector<int> holders;
    do {
      for (int i = 0; i < workers; ++i) {
        if (random.uniform() < probability) holders.push_back(i);
      }
    } while (covered && holders.empty());
    columns.push_back(std::move(holders));
  }
  return columns;
}

std::vector<int> random_subset(int n, int size, RandomStream& random) {
  std::vector<int> order = random.permutation(n);
  order.resize(static_cast<std::size_t>(size));
  std::ranges::sort(order);
  return order;
}

int read_chunks(ParameterText& parameters, int workers) {
  constexpr int kMost = 1'000'000;
  return parameters.integer("chunks", 1, kMost, workers);
}

bool read_yes_or_no(ParameterText& parameters, std::string_view key, bool fallback) {
  static const std::vector<std::string> kWords = {"yes", "no"};
  return parameters.word(key, kWords, fallback ? "yes" : "no") == "yes";
}

}  // namespace paceline
