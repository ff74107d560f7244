// Softmax regression, the model that needs nothing but Eigen.
#pragma once

#include <memory>

#include "paceline/training.hpp"

namespace paceline {

/// Parameters: weights, shape (classes, features), then biases, shape (classes).
std::unique_ptr<TrainingModel> make_softmax_model(const DataSet& data);

}  // namespace paceline
