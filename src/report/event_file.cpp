// TensorBoard's format. A file is a row of records
//
//   length (8 bytes)  masked CRC-32C of these (4)  data  masked CRC-32C of the data (4)
//
// (TensorFlow, tfrecord; all little-endian), and the data of each is a Protocol Buffers message
// Event (TensorFlow, core/util/event.proto; core/framework/summary.proto). Of it we write six
// fields, which is less than what protoc, its generated code and libprotobuf would cost every
// build:
//
//   Event       1 wall_time double, 2 step int64, 3 file_version string, 5 Summary, 7 SessionLog
//   Summary     1 Value { 1 tag string, 2 simple_value float }
//   SessionLog  1 status (1: START)
//
// A START at step s makes TensorBoard forget what files before it say about steps from s on.
#include "paceline/event_file.hpp"

#include <bit>
#include <filesystem>
#include <system_error>
#include <utility>

#include "report/file.hpp"

namespace paceline {
namespace {

/// Castagnoli's polynomial, bits reversed: records are tens of bytes, so no table.
std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ (0x82f63b78U & (0U - (crc & 1U)));
  }
  return ~crc;
}

std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; }

void append_fixed(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void append_key(std::string& out, unsigned field, WireType type) {
  append_varint(out, field << 3U | type);
}

void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_key(out, field, kBytes);
  append_varint(out, bytes.size());
  out += bytes;
}

/// An Event without its content.
std::string event_at(Seconds now, std::int64_t step) {
  std::string event;
  append_key(event, 1, kFixed64);
  append_fixed(event, std::bit_cast<std::uint64_t>(now.count()), 8);
  append_key(event, 2, kVarint);
  append_varint(event, static_cast<std::uint64_t>(step));
  return event;
}

std::string framed(const std::string& event) {
  std::string out;
  append_fixed(out, event.size(), 8);
  append_fixed(out, masked(crc32c(out)), 4);
  out += event;
  append_fixed(out, masked(crc32c(event)), 4);
  return out;
}

/// The seconds in front of every file name are those of `now`, or one more than the newest file's.
std::string next_event_file(const std::filesystem::path& folder, Seconds now) {
  auto number = static_cast<std::int64_t>(now.count());
  std::error_code ignored;
  const std::string prefix = "events.out.tfevents.";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::int64_t other = std::strtoll(name.c_str() + prefix.size(), nullptr, 10);
    number = std::max(number, other + 1);
  }
  return (folder / (prefix + std::to_string(number) + ".paceline")).string();
}

}  // namespace

EventFile::EventFile(std::unique_ptr<detail::OutputFile> file) : file_(std::move(file)) {}

EventFile::EventFile(EventFile&&) noexcept = default;
EventFile& EventFile::operator=(EventFile&&) noexcept = default;
EventFile::~EventFile() = default;

Expected<EventFile> EventFile::create(const std::string& folder,
                                      Seconds now,
                                      std::int64_t first_step) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) return invalid("cannot make the folder '" + folder + "': " + trouble.message());
  const std::string path = next_event_file(folder, now);
  auto file = detail::OutputFile::create(path, path);
  if (!file) return Unexpected(file.error());
  std::string version = event_at(now, 0);
  append_bytes(version, 3, "brain.Event:2");
  std::string start = event_at(now, first_step);
  std::string session;
  append_key(session, 1, kVarint);
  append_varint(session, 1);
  append_bytes(start, 7, session);
  if (auto written = file->write(framed(version) + framed(start)); !written) {
    return Unexpected(written.error());
  }
  return EventFile(std::make_unique<detail::OutputFile>(*std::move(file)));
}

Expected<void> EventFile::add(Seconds now, std::int64_t step, std::string_view tag, double value) {
  PACELINE_CHECK(file_ != nullptr);
  std::string number;
  append_bytes(number, 1, tag);
  append_key(number, 2, kFixed32);
  append_fixed(number, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
  std::string summary;
  append_bytes(summary, 1, number);
  std::string event = event_at(now, step);
  append_bytes(event, 5, summary);
  return file_->write(framed(event));
}

Expected<void> EventFile::close() {
  PACELINE_CHECK(file_ != nullptr);
  return std::exchange(file_, nullptr)->sync_and_close();
}

}  // namespace paceline
