// Folders on disk. A checkpoint of number 17 is written as `.checkpoint-000017.tmp`, renamed to
// `checkpoint-000017`, and whole once the file COMPLETE lies in it.
#include "paceline/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checkpoint/checkpoint_text.hpp"
#include "paceline/metrics.hpp"
#include "report/file.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "checkpoint-";
constexpr const char* kUnfinished = ".checkpoint-";
constexpr const char* kMarker = "COMPLETE";
constexpr const char* kText = "state.json";
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kFlight = "flight.safetensors";

/// A file's line in the marker, made while the file is written or read.
class Sum {
 public:
  Sum() { XXH3_128bits_reset(&state_); }

  void add(std::string_view bytes) {
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  std::string line(const std::string& name) const {
    const XXH128_hash_t sum = XXH3_128bits_digest(&state_);
    return fmt::format("xxh3-128 {:016x}{:016x} {} {}\n", sum.high64, sum.low64, size_, name);
  }

 private:
  XXH3_state_t state_{};
  std::size_t size_ = 0;
};

/// The number of a checkpoint's folder, 0 of anything else.
int number_of(const std::string& name) {
  int number = 0;
  if (std::sscanf(name.c_str(), "checkpoint-%d", &number) != 1 || number < 1) return 0;
  return name == fmt::format("{}{:06}", kPrefix, number) ? number : 0;
}

Expected<std::vector<int>> numbers_in(const std::string& folder) {
  std::error_code error;
  std::vector<int> numbers;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (const int number = number_of(at->path().filename().string()); number > 0) {
      numbers.push_back(number);
    }
  }
  if (error) {
    return invalid(fmt::format("checkpoint folder '{}': {}", folder, error.message()));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string path_of(const std::string& folder, int number) {
  return fmt::format("{}/{}{:06}", folder, kPrefix, number);
}

/// @param marker  gets the file's line
Expected<void> write_file(const std::string& folder,
                          const std::string& name,
                          std::string_view head,
                          std::span<const TensorView> tensors,
                          std::string& marker) {
  const std::string path = folder + "/" + name;
  auto file = detail::OutputFile::create(path, path);
  if (!file) return Unexpected(file.error());
  Sum sum;
  const auto write = [&](std::string_view bytes) {
    sum.add(bytes);
    return file->write(bytes);
  };
  if (auto written = write(head); !written) return written;
  for (const TensorView& tensor : tensors) {
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()),
                                 tensor.bytes.size());
    if (auto written = write(bytes); !written) return written;
  }
  marker += sum.line(name);
  return file->sync_and_close();
}

Expected<std::string> write_files(const std::string& folder, const Checkpoint& checkpoint) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!fs::create_directory(folder, error)) {
    return failed(fmt::format("cannot make '{}': {}", folder, error.message()));
  }
  PackedCheckpoint packed;
  pack(checkpoint, packed);
  std::string marker;
  for (const auto& [name, tensors] :
       {std::pair{kWeights, &packed.weights}, std::pair{kFlight, &packed.flight}}) {
    if (auto done = write_file(folder, name, safetensors_header(*tensors), *tensors, marker);
        !done) {
      return Unexpected(done.error());
    }
  }
  if (auto done = write_file(folder, kText, packed.text, {}, marker); !done) {
    return Unexpected(done.error());
  }
  detail::sync_directory(folder);
  return marker;
}

/// The file's content, if it is what the marker says.
Expected<std::string> read_file(const std::string& folder,
                                const std::string& name,
                                const std::string& marker) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  std::string bytes;
  file.seekg(0, std::ios::end);
  const auto size = file.tellg();
  if (!file || size < 0) return failed(fmt::format("{} cannot be read", name));
  bytes.resize(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(bytes.data(), size);
  if (!file) return failed(fmt::format("{} cannot be read", name));
  Sum sum;
  sum.add(bytes);
  if (marker.find(sum.line(name)) == std::string::npos) {
    return failed(fmt::format("{} is not what was written: its checksum or size differs", name));
  }
  return bytes;
}

Expected<Checkpoint> read_checkpoint(const std::string& folder) {
  std::ifstream file(folder + "/" + kMarker, std::ios::binary);
  std::ostringstream marker;
  if (!file || !(marker << file.rdbuf())) {
    return failed("it was not written to its end (there is no file COMPLETE)");
  }
  const auto text = read_file(folder, kText, marker.str());
  if (!text) return Unexpected(text.error());
  const auto weight_bytes = read_file(folder, kWeights, marker.str());
  if (!weight_bytes) return Unexpected(weight_bytes.error());
  const auto flight_bytes = read_file(folder, kFlight, marker.str());
  if (!flight_bytes) return Unexpected(flight_bytes.error());
  const auto weights = Tensors::parse(*weight_bytes);
  if (!weights) return failed(fmt::format("{}: {}", kWeights, weights.error().message));
  const auto flight = Tensors::parse(*flight_bytes);
  if (!flight) return failed(fmt::format("{}: {}", kFlight, flight.error().message));
  return unpack(*text, *weights, *flight);
}

}  // namespace

Expected<CheckpointFolder> CheckpointFolder::open(const std::string& path, int keep) {
  if (keep < 1) return invalid(fmt::format("{} checkpoints to keep; at least 1", keep));
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return invalid(
        fmt::format("checkpoint folder '{}': cannot be made: {}", path, error.message()));
  }
  const auto numbers = numbers_in(path);
  if (!numbers) return Unexpected(numbers.error());
  std::vector<fs::path> unfinished;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kUnfinished) && name.ends_with(".tmp")) unfinished.push_back(at->path());
  }
  for (const fs::path& folder : unfinished) fs::remove_all(folder, error);
  CheckpointFolder folder(path, keep);
  if (!numbers->empty()) folder.newest_ = numbers->back();
  return folder;
}

Expected<std::string> CheckpointFolder::write(const Checkpoint& checkpoint) {
  const int number = newest_ + 1;
  const std::string temporary = fmt::format("{}/{}{:06}.tmp", path_, kUnfinished, number);
  const std::string folder = path_of(path_, number);
  std::error_code error;
  const auto marker = write_files(temporary, checkpoint);
  if (!marker) {
    fs::remove_all(temporary, error);
    return Unexpected(marker.error());
  }
  fs::rename(temporary, folder, error);
  if (error) {
    const std::string why = error.message();
    fs::remove_all(temporary, error);
    return failed(fmt::format("cannot name '{}': {}", folder, why));
  }
  detail::sync_directory(path_);
  newest_ = number;
  if (auto written = write_text_file(folder + "/" + kMarker, *marker); !written) {
    fs::remove_all(folder, error);
    return Unexpected(written.error());
  }
  const auto numbers = numbers_in(path_);
  for (std::size_t k = 0; numbers && k + static_cast<std::size_t>(keep_) < numbers->size(); ++k) {
    fs::remove_all(path_of(path_, (*numbers)[k]), error);
  }
  return folder;
}

Expected<std::optional<FoundCheckpoint>> read_newest_checkpoint(
    const std::string& folder, const std::function<void(const std::string& line)>& notice) {
  auto numbers = numbers_in(folder);
  if (!numbers) return Unexpected(numbers.error());
  for (auto number = numbers->rbegin(); number != numbers->rend(); ++number) {
    const std::string path = path_of(folder, *number);
    auto read = read_checkpoint(path);
    if (read) return std::optional(FoundCheckpoint{path, std::move(*read)});
    if (notice) {
      notice(
          fmt::format("{} is left out: {}; the one before is tried", path, read.error().message));
    }
  }
  return std::optional<FoundCheckpoint>();
}

}  // namespace paceline
