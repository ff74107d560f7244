// Files in the safetensors format: a length (u64, little-endian), so many bytes of JSON that name
// tensors with their type, shape and place, then the raw numbers, little-endian, without a gap.
// Nothing in such a file is ever executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

enum class NumberType { kF32, kF64, kI32 };

/// What numbers of C++ are called there.
template <class T>
NumberType number_type();

template <>
inline NumberType number_type<float>() {
  return NumberType::kF32;
}

template <>
inline NumberType number_type<double>() {
  return NumberType::kF64;
}

template <>
inline NumberType number_type<int>() {
  return NumberType::kI32;
}

/// A tensor to be written. What it refers to must outlive the call.
struct TensorView {
  std::string name;
  NumberType type = NumberType::kF32;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;
};

/// @param width  0: one dimension; else the numbers are rows of so many
template <class T>
TensorView view_of(std::string name, std::span<const T> numbers, std::size_t width = 0) {
  TensorView view{std::move(name), number_type<T>(), {numbers.size()}, std::as_bytes(numbers)};
  if (width > 0) view.shape = {numbers.size() / width, width};
  return view;
}

/// The length and the JSON that stand before the numbers.
/// @param metadata  texts about all of them
std::string safetensors_header(std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata = {});

/// The tensors of a file that has been read into memory.
class Tensors {
 public:
  /// Checks all of it: lengths, types, shapes, and that the tensors cover the numbers without gap
  /// or overlap. @param bytes  the whole file; must outlive the result
  static Expected<Tensors> parse(std::string_view bytes);

  /// A copy of the numbers; an error if there is no such tensor, or it is of another type, or its
  /// numbers do not make rows of `width`.
  Expected<std::vector<float>> floats(const std::string& name) const;
  Expected<std::vector<double>> doubles(const std::string& name) const;
  Expected<std::vector<int>> integers(const std::string& name, std::size_t width) const;

  /// What the file says about itself; texts only.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  struct Tensor {
    NumberType type;
    std::vector<std::size_t> shape;
    std::string_view bytes;
  };

  template <class T>
  Expected<std::vector<T>> numbers(const std::string& name) const;

  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace paceline
