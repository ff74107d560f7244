#include "delays/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <limits>

namespace paceline {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30U;
constexpr int kGzipOnly = 15 + 16;  // window bits; 16: a gzip header is required

/// Ends the stream on every way out.
class Inflation {
 public:
  Inflation() { ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK; }

  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  ~Inflation() {
    if (ready_) inflateEnd(&stream_);
  }

  bool ready() const { return ready_; }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Expected<std::string> gunzip(std::string_view bytes, const std::string& name) {
  const auto broken = [&](std::string_view why) {
    return invalid(fmt::format("{}: cannot be uncompressed: {}", name, why));
  };
  if (bytes.size() > std::numeric_limits<uInt>::max()) return broken("more than 4 GiB");
  Inflation inflation;
  if (!inflation.ready()) return broken("no memory");
  z_stream& stream = inflation.stream();
  // zlib does not write through next_in, but its type says it might.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, std::size_t{1} << 16U> block;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state == Z_BUF_ERROR || (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      return broken("it ends too early");
    }
    if (state != Z_OK && state != Z_STREAM_END) return broken("it is damaged");
    out.append(block.data(), block.size() - stream.avail_out);
    if (out.size() > kLargest) return broken("more than 1 GiB of text");
    if (state == Z_STREAM_END &&
        is_gzip({reinterpret_cast<const char*>(stream.next_in), stream.avail_in})) {
      inflateReset(&stream);  // gzip files may be joined
      state = Z_OK;
    }
  }
  return out;
}

}  // namespace paceline
