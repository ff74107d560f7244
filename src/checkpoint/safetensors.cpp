#include "checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "paceline/check.hpp"

namespace paceline {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

struct TypeName {
  NumberType type;
  const char* name;
  std::size_t size;
};

constexpr std::array<TypeName, 3> kTypes{
    {{NumberType::kF32, "F32", 4}, {NumberType::kF64, "F64", 8}, {NumberType::kI32, "I32", 4}}};

const TypeName& named(NumberType type) { return kTypes.at(static_cast<std::size_t>(type)); }

constexpr const char* kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlign = 8;

/// The bytes of such a tensor, or nothing if no number is large enough.
std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape, std::size_t size) {
  std::size_t all = size;
  for (const std::size_t extent : shape) {
    if (extent != 0 && all > std::numeric_limits<std::size_t>::max() / extent) return std::nullopt;
    all *= extent;
  }
  return all;
}

Unexpected<Error> broken(const std::string& why) {
  return failed("not a safetensors file: " + why);
}

bool is_size(const nlohmann::json& value) { return value.is_number_unsigned(); }

}  // namespace

std::string safetensors_header(std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::size_t at = 0;
  for (const TensorView& tensor : tensors) {
    PACELINE_CHECK(bytes_of(tensor.shape, named(tensor.type).size) == tensor.bytes.size());
    header[tensor.name] = {{"dtype", named(tensor.type).name},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlign - 1) / kAlign * kAlign, ' ');
  const std::uint64_t length = text.size();
  std::string out(kLengthBytes, '\0');
  std::memcpy(out.data(), &length, kLengthBytes);
  return out + text;
}

Expected<Tensors> Tensors::parse(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return broken(fmt::format("{} bytes are too few", bytes.size()));
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes) {
    return broken(fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  const auto header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) return broken("its header is not a JSON object");

  Tensors all;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& [key, entry] : header.items()) {
    if (key == kMetadata) {
      if (!entry.is_object()) return broken("its metadata is not a JSON object");
      for (const auto& [about, value] : entry.items()) {
        if (value.is_string()) all.metadata_[about] = value.template get<std::string>();
      }
      continue;
    }
    const std::string name = key;
    const auto wrong = [&](const std::string& what) {
      return broken(fmt::format("tensor '{}' {}", name, what));
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets")) {
      return wrong("lacks dtype, shape or data_offsets");
    }
    const auto& dtype = entry["dtype"];
    const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& type) {
      return dtype.is_string() && dtype.get_ref<const std::string&>() == type.name;
    });
    if (known == kTypes.end()) {
      return wrong(fmt::format("has dtype {}; F32, F64 and I32 are read", dtype.dump()));
    }
    const auto& shape = entry["shape"];
    if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), is_size)) {
      return wrong(fmt::format("has shape {}", shape.dump()));
    }
    const auto& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !is_size(offsets[0]) ||
        !is_size(offsets[1])) {
      return wrong(fmt::format("has data_offsets {}", offsets.dump()));
    }
    const auto begin = offsets[0].get<std::size_t>();
    const auto end = offsets[1].get<std::size_t>();
    if (begin > end || end > data.size()) {
      return wrong(fmt::format("lies at {} ... {} of {} bytes", begin, end, data.size()));
    }
    Tensor tensor{
        known->type, shape.get<std::vector<std::size_t>>(), data.substr(begin, end - begin)};
    if (bytes_of(tensor.shape, known->size) != tensor.bytes.size()) {
      return wrong(fmt::format("of shape {} takes {} bytes", shape.dump(), tensor.bytes.size()));
    }
    places.emplace_back(begin, end);
    all.tensors_.emplace(name, std::move(tensor));
  }
  std::sort(places.begin(), places.end());
  std::size_t at = 0;
  for (const auto& [begin, end] : places) {
    if (begin != at) return broken(fmt::format("a gap or an overlap of tensors at byte {}", begin));
    at = end;
  }
  if (at != data.size()) {
    return broken(fmt::format("{} bytes after the last tensor", data.size() - at));
  }
  return all;
}

template <class T>
Expected<std::vector<T>> Tensors::numbers(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return failed(fmt::format("there is no tensor '{}'", name));
  const Tensor& tensor = found->second;
  if (tensor.type != number_type<T>()) {
    return failed(fmt::format("tensor '{}' is of type {}, not {}",
                              name,
                              named(tensor.type).name,
                              named(number_type<T>()).name));
  }
  std::vector<T> numbers(tensor.bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

Expected<std::vector<float>> Tensors::floats(const std::string& name) const {
  return numbers<float>(name);
}

Expected<std::vector<double>> Tensors::doubles(const std::string& name) const {
  return numbers<double>(name);
}

Expected<std::vector<int>> Tensors::integers(const std::string& name, std::size_t width) const {
  auto all = numbers<int>(name);
  if (!all) return all;
  const std::vector<std::size_t>& shape = tensors_.at(name).shape;
  if (shape.size() != 2 || shape[1] != width) {
    return failed(fmt::format("tensor '{}' does not consist of rows of {}", name, width));
  }
  return all;
}

}  // namespace paceline
