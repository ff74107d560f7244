// The idx format of MNIST: a big-endian header (magic number, sizes), then one byte per pixel or
// label. Every length is checked against the header before anything is allocated.

#include <fmt/format.h>

#include <cstdint>

#include "paceline/data_set.hpp"

namespace paceline {
namespace {

constexpr std::uint32_t kImages = 0x00000803;  // unsigned bytes, three dimensions
constexpr std::uint32_t kLabels = 0x00000801;  // unsigned bytes, one dimension
constexpr std::size_t kImagesHeader = 16;
constexpr std::size_t kLabelsHeader = 8;
constexpr std::uint32_t kMostSamples = 100'000'000;
constexpr std::uint32_t kMostSide = 4096;  // with the above, samples * rows * columns fits 64 bits
constexpr int kClasses = 10;

unsigned byte_at(std::string_view bytes, std::size_t offset) {
  return static_cast<unsigned char>(bytes[offset]);
}

// One 32-bit field of a header: read only where the header is known to be complete.
std::uint32_t field(std::string_view bytes, std::size_t offset) {
  return byte_at(bytes, offset) << 24U | byte_at(bytes, offset + 1) << 16U |
         byte_at(bytes, offset + 2) << 8U | byte_at(bytes, offset + 3);
}

Expected<void> check_header(std::string_view bytes,
                            const std::string& name,
                            std::size_t header,
                            std::uint32_t magic) {
  if (bytes.size() < header) {
    return invalid(fmt::format(
        "{}: {} bytes, but an idx header of this kind has {}", name, bytes.size(), header));
  }
  if (field(bytes, 0) != magic) {
    return invalid(fmt::format("{}: offset 0: magic number {:#010x}, expected {:#010x} (idx {})",
                               name,
                               field(bytes, 0),
                               magic,
                               magic == kImages ? "images" : "labels"));
  }
  return {};
}

Expected<void> check_size(const std::string& name,
                          std::size_t offset,
                          const char* what,
                          std::uint32_t size,
                          std::uint32_t most) {
  if (size >= 1 && size <= most) return {};
  return invalid(
      fmt::format("{}: offset {}: {} {}, allowed are 1 to {}", name, offset, size, what, most));
}

Expected<void> check_length(std::string_view bytes,
                            const std::string& name,
                            std::size_t header,
                            std::uint64_t body) {
  if (bytes.size() - header == body) return {};
  return invalid(fmt::format("{}: {} bytes, but its header promises {} after the first {}",
                             name,
                             bytes.size(),
                             body,
                             header));
}

Expected<void> parse_images(std::string_view bytes, const std::string& name, DataSet& data) {
  if (auto ok = check_header(bytes, name, kImagesHeader, kImages); !ok) return ok;
  const std::uint32_t samples = field(bytes, 4);
  const std::uint32_t rows = field(bytes, 8);
  const std::uint32_t columns = field(bytes, 12);
  if (auto ok = check_size(name, 4, "images", samples, kMostSamples); !ok) return ok;
  if (auto ok = check_size(name, 8, "rows", rows, kMostSide); !ok) return ok;
  if (auto ok = check_size(name, 12, "columns", columns, kMostSide); !ok) return ok;
  const std::uint64_t body = std::uint64_t{samples} * rows * columns;
  if (auto ok = check_length(bytes, name, kImagesHeader, body); !ok) return ok;

  data.samples = static_cast<int>(samples);
  data.height = static_cast<int>(rows);
  data.width = static_cast<int>(columns);
  data.features = data.height * data.width;
  // Image by image through a small buffer, so that the large array is written only once.
  const std::string_view pixels = bytes.substr(kImagesHeader);
  std::vector<float> image(std::size_t{rows} * columns);
  data.inputs.reserve(body);
  for (std::size_t begin = 0; begin < body; begin += image.size()) {
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<float>(byte_at(pixels, begin + i)) / 255.0F;
    }
    data.inputs.insert(data.inputs.end(), image.begin(), image.end());
  }
  return {};
}

Expected<void> parse_labels(std::string_view bytes, const std::string& name, DataSet& data) {
  if (auto ok = check_header(bytes, name, kLabelsHeader, kLabels); !ok) return ok;
  const std::uint32_t samples = field(bytes, 4);
  if (samples != static_cast<std::uint32_t>(data.samples)) {
    return invalid(fmt::format(
        "{}: offset 4: {} labels, but there are {} images", name, samples, data.samples));
  }
  if (auto ok = check_length(bytes, name, kLabelsHeader, samples); !ok) return ok;

  data.classes = kClasses;
  data.labels.resize(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const unsigned label = byte_at(bytes, kLabelsHeader + i);
    if (label >= kClasses) {
      return invalid(fmt::format("{}: offset {}: label {}, allowed are 0 to {}",
                                 name,
                                 kLabelsHeader + i,
                                 label,
                                 kClasses - 1));
    }
    data.labels[i] = static_cast<std::int32_t>(label);
  }
  return {};
}

}  // namespace

Expected<DataSet> parse_idx(std::string_view images,
                            std::string_view labels,
                            const std::string& images_name,
                            const std::string& labels_name) {
  DataSet data;
  if (auto ok = parse_images(images, images_name, data); !ok) return Unexpected<Error>(ok.error());
  if (auto ok = parse_labels(labels, labels_name, data); !ok) return Unexpected<Error>(ok.error());
  return data;
}

}  // namespace paceline
