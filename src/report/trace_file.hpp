// A file of trace events, of which each scheme adds a process. Text is gathered and written in
// large pieces; the first error stops the writing and is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "report/file.hpp"

namespace paceline::detail {

class TraceFile {
 public:
  /// A thread of the process begun last.
  enum Thread : int { kRounds = 0, kDecoded = 1, kMaster = 2, kFirstWorker = 3 };

  struct Slice {
    std::string_view name;
    Seconds began{0};
    Seconds ended{0};
    std::string_view facts = {};  ///< members of a JSON object, without its braces
  };

  explicit TraceFile(OutputFile file);

  void begin_process(std::string_view name, int workers);
  void add(Thread thread, const Slice& slice);

  /// On the first of the worker's threads that is free from its beginning on; slices of a worker
  /// come in the order in which they end.
  void add(WorkerId worker, const Slice& slice);

  void mark(Thread thread, std::string_view name, Seconds at, std::string_view facts);

  Expected<void> close();

 private:
  void event(char phase, int thread, const Slice& slice);
  void name_thread(int thread, std::string_view name, int place);
  void line(std::string_view text);

  OutputFile file_;
  std::string text_;
  std::optional<Error> error_;
  int process_ = 0;
  int workers_ = 0;
  std::vector<std::vector<Seconds>> busy_until_;  ///< [worker][lane]
  bool first_ = true;
};

}  // namespace paceline::detail
