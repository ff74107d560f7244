#include "report/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/json.hpp"

namespace paceline::detail {
namespace {

constexpr std::size_t kPieceBytes = 1 << 16;
constexpr int kMostLanes = 64;  // places that a worker's threads may take below each other

double microseconds(Seconds time) { return 1e6 * time.count(); }

}  // namespace

TraceFile::TraceFile(OutputFile file) : file_(std::move(file)) {
  text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
}

void TraceFile::line(std::string_view text) {
  if (error_) return;
  text_ += std::exchange(first_, false) ? "\n" : ",\n";
  text_ += text;
  if (text_.size() < kPieceBytes) return;
  if (auto written = file_.write(text_); !written) error_ = written.error();
  text_.clear();
}

void TraceFile::begin_process(std::string_view name, int workers) {
  ++process_;
  workers_ = workers;
  busy_until_.assign(static_cast<std::size_t>(workers), {});
  line(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})",
                   process_,
                   quoted(name)));
  line(fmt::format(
      R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
      process_));
  name_thread(kRounds, "rounds", kRounds);
  name_thread(kDecoded, "decoded", kDecoded);
  name_thread(kMaster, "master", kMaster);
}

void TraceFile::name_thread(int thread, std::string_view name, int place) {
  line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})",
                   process_,
                   thread,
                   name));
  line(fmt::format(
      R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
      process_,
      thread,
      place));
}

void TraceFile::event(char phase, int thread, const Slice& slice) {
  // A duration that is rounded apart from its beginning could overlap the next slice.
  const double began = microseconds(slice.began);
  const double took = std::max(0.0, microseconds(slice.ended) - began);
  std::string text = fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"name":"{}","ts":{:.3f})",
                                 phase,
                                 process_,
                                 thread,
                                 slice.name,
                                 began);
  if (phase == 'X') text += fmt::format(R"(,"dur":{:.3f})", took);
  if (phase == 'i') text += R"(,"s":"t")";
  if (!slice.facts.empty()) text += fmt::format(R"(,"args":{{{}}})", slice.facts);
  line(text + '}');
}

void TraceFile::add(Thread thread, const Slice& slice) { event('X', thread, slice); }

void TraceFile::mark(Thread thread, std::string_view name, Seconds at, std::string_view facts) {
  event('i', thread, {name, at, at, facts});
}

void TraceFile::add(WorkerId worker, const Slice& slice) {
  std::vector<Seconds>& busy_until = busy_until_.at(worker.index());
  const auto free = std::find_if(
      busy_until.begin(), busy_until.end(), [&](Seconds until) { return until <= slice.began; });
  const int lane = static_cast<int>(free - busy_until.begin());
  const int thread = kFirstWorker + worker.value + lane * workers_;
  if (free == busy_until.end()) {
    busy_until.push_back(slice.ended);
    name_thread(thread,
                lane == 0 ? fmt::format("worker {}", worker.value)
                          : fmt::format("worker {}, order {}", worker.value, lane + 1),
                kFirstWorker + worker.value * kMostLanes + std::min(lane, kMostLanes - 1));
  } else {
    *free = slice.ended;
  }
  event('X', thread, slice);
}

Expected<void> TraceFile::close() {
  text_ += "\n]}\n";
  if (!error_) {
    if (auto written = file_.write(text_); !written) error_ = written.error();
  }
  if (error_) return Unexpected(*error_);
  return file_.sync_and_close();
}

}  // namespace paceline::detail
