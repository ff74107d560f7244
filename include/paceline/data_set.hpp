// Data sets in memory: MNIST (idx files), and synthetic classes for tests and examples. Tables:
// table_data.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

struct DataSet {
  int samples = 0;
  int features = 0;           ///< per sample; images: height * width, row-major
  int height = 0, width = 0;  ///< 0 if not images
  int classes = 0;
  bool centred = false;              ///< inputs have about mean 0 and deviation 1 each
  std::vector<float> inputs;         ///< shape (samples, features); images scaled to [0, 1]
  std::vector<std::int32_t> labels;  ///< shape (samples), 0 ... classes-1

  std::span<const float> input(int sample) const {
    return std::span<const float>(inputs).subspan(
        static_cast<std::size_t>(sample) * static_cast<std::size_t>(features),
        static_cast<std::size_t>(features));
  }
};

/// Parses an idx pair. `images_name` and `labels_name` are used in errors.
Expected<DataSet> parse_idx(std::string_view images,
                            std::string_view labels,
                            const std::string& images_name,
                            const std::string& labels_name);

/// Samples first ... first+count-1 of `data`, copied. @pre they exist
DataSet slice(const DataSet& data, int first, int count);

struct SplitData {
  DataSet train;
  DataSet test;
};

/// Reads the four idx files from `directory`; checks sizes and SHA-256 and names the file that is
/// missing or damaged.
Expected<SplitData> read_mnist(const std::string& directory);

/// Gaussian classes around random centres; deterministic by seed.
DataSet make_synthetic_classes(int samples, int features, int classes, std::uint64_t seed);

}  // namespace paceline
