// A file being written, with every step checked: write(2) directly, so that no error waits in a
// buffer for a moment when nobody asks.
#pragma once

#include <string>
#include <string_view>

#include "paceline/expected.hpp"

namespace paceline::detail {

/// Writes all of `text` to `fd`, however many calls that takes.
/// @return 0 or the errno of the call that failed
int write_all(int fd, std::string_view text);

class OutputFile {
 public:
  /// Creates or empties the file at `path`; errors call it `name`.
  /// @return kInvalid if the path is at fault, kFailed if the disk is
  static Expected<OutputFile> create(const std::string& path, std::string name);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  ///< closes unchecked

  bool is_open() const { return fd_ >= 0; }

  /// @pre is_open(), for both
  Expected<void> write(std::string_view text);
  Expected<void> sync_and_close();

 private:
  OutputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  int fd_;
  std::string name_;
};

/// After a rename, so that the name survives a crash as the content does. Some file systems cannot
/// do it for a directory; the file itself is safe then, so this is no error.
void sync_directory(const std::string& directory);

/// "cannot <verb> '<name>': <the system's words for errno `reason`>"
std::string file_trouble(std::string_view verb, std::string_view name, int reason);

}  // namespace paceline::detail
