#include "paceline/data_set.hpp"

#include "paceline/check.hpp"

namespace paceline {

DataSet slice(const DataSet& data, int first, int count) {
  PACELINE_CHECK(first >= 0 && count >= 0 && first + count <= data.samples);
  DataSet part{.samples = count,
               .features = data.features,
               .height = data.height,
               .width = data.width,
               .classes = data.classes,
               .centred = data.centred,
               .inputs = {},
               .labels = {}};
  const auto begin = static_cast<std::ptrdiff_t>(first);
  const auto end = begin + count;
  const auto width = static_cast<std::ptrdiff_t>(data.features);
  part.inputs.assign(data.inputs.begin() + begin * width, data.inputs.begin() + end * width);
  part.labels.assign(data.labels.begin() + begin, data.labels.begin() + end);
  return part;
}

}  // namespace paceline
