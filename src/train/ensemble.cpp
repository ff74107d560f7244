// Several models of one kind as one.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/training.hpp"

namespace paceline {

double accuracy_of(std::span<const float> probabilities, const DataSet& data) {
  const auto classes = static_cast<std::size_t>(data.classes);
  PACELINE_CHECK(data.samples >= 1 && data.labels.size() == static_cast<std::size_t>(data.samples));
  PACELINE_CHECK(probabilities.size() == data.labels.size() * classes);
  int right = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const auto row = probabilities.subspan(i * classes, classes);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    if (best == data.labels[i]) ++right;
  }
  return static_cast<double>(right) / data.samples;
}

void Ensemble::add(std::vector<float> probabilities) {
  PACELINE_CHECK(models_ == 0 || probabilities.size() == sum_.size());
  ++models_;
  if (models_ == 1) {
    sum_ = std::move(probabilities);
    return;
  }
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += probabilities[i];
}

std::vector<float> Ensemble::mean() const {
  PACELINE_CHECK(models_ >= 1);
  std::vector<float> mean = sum_;
  for (float& p : mean) p /= static_cast<float>(models_);
  return mean;
}

}  // namespace paceline
