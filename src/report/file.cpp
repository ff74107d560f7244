#include "report/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "paceline/metrics.hpp"

namespace paceline {
namespace detail {
namespace {

bool path_is_at_fault(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
    case ELOOP:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string file_trouble(std::string_view verb, std::string_view name, int reason) {
  return fmt::format("cannot {} '{}': {}", verb, name, std::generic_category().message(reason));
}

void sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

Expected<OutputFile> OutputFile::create(const std::string& path, std::string name) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) return OutputFile(fd, std::move(name));
  const int reason = errno;
  std::string message = file_trouble("create", name, reason);
  if (reason == ENOENT) message += "; its directory must exist";
  return path_is_at_fault(reason) ? invalid(std::move(message)) : failed(std::move(message));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<void> OutputFile::write(std::string_view text) {
  PACELINE_CHECK(is_open());
  if (const int reason = write_all(fd_, text)) {
    return failed(file_trouble("write", name_, reason));
  }
  return {};
}

Expected<void> OutputFile::sync_and_close() {
  PACELINE_CHECK(is_open());
  // What cannot be forced to a disk (a pipe, a device) says EINVAL or EROFS: nothing is lost by it.
  int reason = ::fsync(fd_) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  if (::close(std::exchange(fd_, -1)) != 0 && reason == 0) reason = errno;
  if (reason != 0) return failed(file_trouble("write", name_, reason));
  return {};
}

}  // namespace detail

namespace {

Expected<void> write_and_rename(const std::string& temporary,
                                const std::string& path,
                                std::string_view text) {
  Expected<detail::OutputFile> file = detail::OutputFile::create(temporary, path);
  if (!file) return Unexpected<Error>(file.error());
  if (Expected<void> written = file->write(text); !written) return written;
  if (Expected<void> closed = file->sync_and_close(); !closed) return closed;
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return failed(detail::file_trouble("replace", path, errno));
  }
  return {};
}

}  // namespace

Expected<void> write_text_file(const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Expected<void> written = write_and_rename(temporary, path, text);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  detail::sync_directory(directory.empty() ? "." : directory.string());
  return {};
}

}  // namespace paceline
