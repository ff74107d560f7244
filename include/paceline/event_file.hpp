// Scalars for TensorBoard: a file of the records that it reads, written while a run goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"

namespace paceline {
namespace detail {
class OutputFile;
}

class EventFile {
 public:
  /// Creates `folder` and in it a file that sorts after those which it has. TensorBoard reads the
  /// files of a folder in this order, as one run.
  /// @param now         since 1970
  /// @param first_step  earlier files' values from this step on are void: they are played again
  static Expected<EventFile> create(const std::string& folder,
                                    Seconds now,
                                    std::int64_t first_step);

  EventFile(EventFile&&) noexcept;
  EventFile& operator=(EventFile&&) noexcept;
  ~EventFile();  ///< closes unchecked

  /// Adds a value. @param tag  the chart it belongs to: "loss". @pre not closed
  Expected<void> add(Seconds now, std::int64_t step, std::string_view tag, double value);

  /// @pre not closed
  Expected<void> close();

 private:
  explicit EventFile(std::unique_ptr<detail::OutputFile> file);
  std::unique_ptr<detail::OutputFile> file_;
};

}  // namespace paceline
