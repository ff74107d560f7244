#include "cluster/frame.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace paceline {
namespace {

constexpr std::uint32_t kMagic = 0x4E4C4350;  // "PCLN"

std::uint64_t checksum(FrameHeader header, std::span<const std::byte> records) {
  header.checksum = 0;
  return XXH3_64bits_withSeed(records.data(), records.size(), XXH3_64bits(&header, sizeof header));
}

}  // namespace

void seal(Bytes& frame, FrameHeader header) {
  header.magic = kMagic;
  header.bytes = frame.size() - sizeof header;
  header.checksum = checksum(header, std::span<const std::byte>(frame).subspan(sizeof header));
  std::memcpy(frame.data(), &header, sizeof header);
}

std::size_t FrameReader::get_count(std::size_t entry_bytes) {
  const std::size_t count = get<std::uint32_t>();
  if (count > left_.size() / entry_bytes) good_ = false;
  return good_ ? count : 0;
}

void FrameReader::get_bytes(void* to, std::size_t size) {
  if (size > left_.size()) good_ = false;
  if (size == 0) return;
  if (!good_) {
    std::memset(to, 0, size);
    return;
  }
  std::memcpy(to, left_.data(), size);
  left_ = left_.subspan(size);
}

Expected<Frame> open_frame(std::span<const std::byte> bytes) {
  Frame frame;
  if (bytes.size() < sizeof frame.header) {
    return failed(fmt::format("{} bytes are no frame", bytes.size()));
  }
  std::memcpy(&frame.header, bytes.data(), sizeof frame.header);
  if (frame.header.magic != kMagic) return failed("not a frame of paceline");
  const auto records = bytes.subspan(sizeof frame.header);
  if (frame.header.bytes != records.size()) {
    return failed(
        fmt::format("{} bytes came where {} were sent", records.size(), frame.header.bytes));
  }
  if (frame.header.checksum != checksum(frame.header, records)) return failed("wrong checksum");
  frame.records = FrameReader(records);
  return frame;
}

}  // namespace paceline
