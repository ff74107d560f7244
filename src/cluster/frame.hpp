// A frame is what one rank sends another: a header, then records. The checksum covers both, so that
// what arrives damaged or cut short is noticed and never becomes part of a gradient.
//
// All numbers are in the byte order of the machine: ranks of another one fail in the handshake.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "paceline/expected.hpp"
#include "paceline/link.hpp"

namespace paceline {

struct FrameHeader {
  std::uint32_t magic = 0;
  std::uint32_t run = 0;           ///< a scheme's run, from 1; 0: belongs to none
  std::uint32_t sequence = 0;      ///< of the frames that are counted, from 1; 0: not counted
  std::uint32_t acknowledged = 0;  ///< sequence of the newest frame received from the other side
  std::uint64_t bytes = 0;         ///< of the records
  std::uint64_t checksum = 0;
};

/// A frame that has grown past this many bytes is sent rather than added to.
inline constexpr std::size_t kFrameBytes = std::size_t{256} << 10U;

/// Appends numbers and arrays to a frame.
class FrameWriter {
 public:
  /// Begins an empty frame in `bytes`, which must outlive the writer.
  explicit FrameWriter(Bytes& bytes) : bytes_(bytes) { bytes_.resize(sizeof(FrameHeader)); }

  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    put_bytes(&value, sizeof value);
  }

  /// The numbers alone: their count is not written.
  template <class T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    put_bytes(values.data(), values.size_bytes());
  }

  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(text.data(), text.size());
  }

  std::size_t size() const { return bytes_.size(); }

 private:
  void put_bytes(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  Bytes& bytes_;
};

/// Writes the header of a frame that holds all its records: last of all. `bytes`, `magic` and
/// `checksum` are filled in.
void seal(Bytes& frame, FrameHeader header);

/// Reads what a FrameWriter has written. A read past the end gives zeros and makes it bad.
class FrameReader {
 public:
  FrameReader() = default;

  explicit FrameReader(std::span<const std::byte> records) : left_(records) {}

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    get_bytes(&value, sizeof value);
    return value;
  }

  template <class T>
  void get_all(std::span<T> values) {
    get_bytes(values.data(), values.size_bytes());
  }

  std::string get_text() {
    std::string text(get_count(1), '\0');
    get_bytes(text.data(), text.size());
    return text;
  }

  /// A count of entries that take at least `entry_bytes` each: never more than can still follow, so
  /// that a wrong count allocates nothing.
  std::size_t get_count(std::size_t entry_bytes);

  /// Leaves out so many bytes.
  void skip(std::size_t size) {
    if (size > left_.size()) good_ = false;
    if (good_) left_ = left_.subspan(size);
  }

  /// Leaves out all that follows.
  void skip_rest() { left_ = {}; }

  bool good() const { return good_; }

  bool done() const { return left_.empty() || !good_; }

 private:
  void get_bytes(void* to, std::size_t size);

  std::span<const std::byte> left_;
  bool good_ = true;
};

struct Frame {
  FrameHeader header;
  FrameReader records;  ///< refers to the bytes that were opened
};

/// Checks length and checksum. @return an error that says what is wrong with the frame
Expected<Frame> open_frame(std::span<const std::byte> bytes);

}  // namespace paceline
