// What a run did and when, as a picture: a file for ui.perfetto.dev or chrome://tracing.
//
// The file is JSON in the Trace Event Format, times in microseconds. Every scheme is a process of
// its own, and begins at 0. Its threads are
//   rounds     from opening to closing
//   decoded    a mark per job, when its gradient is complete
//   master     what the master was busy with (live runs only: planning, sending, decoding)
//   worker 7   one slice per order, from when the worker turned to it to its answer, or to when it
//              was stopped; an order that a worker has beside another one gets a second thread
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"

namespace paceline {
namespace detail {
class TraceFile;
}

class Timeline {
 public:
  /// Creates or empties the file at `path`. Its directory must exist.
  static Expected<Timeline> create(const std::string& path);

  Timeline(Timeline&&) noexcept;
  Timeline& operator=(Timeline&&) noexcept;
  ~Timeline();  ///< leaves the file without its end: call close()

  /// Begins a scheme.
  /// @return a coordinator that does what `inner` does; what passes through is written. It must not
  ///         outlive the timeline. Its clones are not written.
  /// @pre    not closed
  std::unique_ptr<Coordinator> watch(std::unique_ptr<Coordinator> inner,
                                     std::string_view label,
                                     int workers);

  /// What the master of the scheme begun last was busy with. @pre watch() has been called
  void add(std::string_view what, Seconds began, Seconds ended);

  /// Ends the file. @return the first error that writing met, of code kFailed. @pre not closed
  Expected<void> close();

 private:
  explicit Timeline(std::unique_ptr<detail::TraceFile> file);
  std::unique_ptr<detail::TraceFile> file_;
};

}  // namespace paceline
