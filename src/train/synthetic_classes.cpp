// Gaussian classes around random centres: a data set of any shape, without a file.

#include "paceline/check.hpp"
#include "paceline/data_set.hpp"
#include "paceline/random.hpp"

namespace paceline {

DataSet make_synthetic_classes(int samples, int features, int classes, std::uint64_t seed) {
  PACELINE_CHECK(samples >= 1 && features >= 1 && classes >= 2);
  DataSet data;
  data.samples = samples;
  data.features = features;
  data.classes = classes;
  const auto width = static_cast<std::size_t>(features);

  RandomStream centre_stream(seed, "synthetic-centres");
  std::vector<float> centres(static_cast<std::size_t>(classes) * width);
  for (float& x : centres) x = static_cast<float>(centre_stream.normal());

  // Labels go round, so that every class and every prefix is balanced.
  RandomStream noise(seed, "synthetic-samples");
  data.inputs.reserve(static_cast<std::size_t>(samples) * width);
  data.labels.reserve(static_cast<std::size_t>(samples));
  for (int i = 0; i < samples; ++i) {
    const int label = i % classes;
    data.labels.push_back(label);
    const float* centre = centres.data() + static_cast<std::size_t>(label) * width;
    for (std::size_t j = 0; j < width; ++j) {
      data.inputs.push_back(centre[j] + static_cast<float>(noise.normal()));
    }
  }
  return data;
}

}  // namespace paceline
