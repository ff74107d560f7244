#include "paceline/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "paceline/check.hpp"
#include "report/trace_file.hpp"

namespace paceline {
namespace {

/// An order that has not been answered.
struct OpenOrder {
  Round round;
  int dispatch = 0;
  Seconds sent{0};
  double load = 0;
  std::vector<int> jobs;  ///< each once, in the order of the tasks
};

OpenOrder open_order(const Order& order, Seconds now) {
  OpenOrder open{order.round, order.dispatch, now - order.age, order.load(), {}};
  for (const Task& task : order.tasks) {
    const int job = task.job.value;
    if (std::find(open.jobs.begin(), open.jobs.end(), job) == open.jobs.end()) {
      open.jobs.push_back(job);
    }
  }
  return open;
}

std::string name_of(const OpenOrder& order) {
  return fmt::format("job{} {}", order.jobs.size() == 1 ? "" : "s", fmt::join(order.jobs, ", "));
}

std::string facts_of(const OpenOrder& order) {
  return fmt::format(
      R"("round":{},"dispatch":{},"load":{})", order.round.value, order.dispatch, order.load);
}

class WatchedCoordinator final : public Coordinator {
 public:
  WatchedCoordinator(std::unique_ptr<Coordinator> inner, detail::TraceFile& file, int workers)
      : inner_(std::move(inner)), file_(file), open_(static_cast<std::size_t>(workers)) {}

  Actions start(Seconds now) override { return seen(inner_->start(now), now); }

  Actions on(const Event& event, Seconds now) override {
    if (const auto* arrived = std::get_if<Arrived>(&event)) see(arrived->result, now);
    return seen(inner_->on(event, now), now);
  }

  bool study() override { return inner_->study(); }

  int start_no_more_jobs() override { return inner_->start_no_more_jobs(); }

  std::unique_ptr<Coordinator> clone() const override { return inner_->clone(); }

 private:
  Actions seen(Actions actions, Seconds now) {
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        open_.at(send->order.worker.index()).push_back(open_order(send->order, now));
      } else if (const auto* stop = std::get_if<Stop>(&action)) {
        see(*stop, now);
      } else if (const auto* apply = std::get_if<Apply>(&action)) {
        see(*apply, now);
      } else if (const auto* record = std::get_if<RoundRecord>(&action)) {
        see(*record);
      } else if (std::holds_alternative<Finish>(action)) {
        leave_unanswered(now);
      }
    }
    return actions;
  }

  void see(const Result& result, Seconds now) {
    std::vector<OpenOrder>& open = open_.at(result.worker.index());
    const auto found = std::find_if(open.begin(), open.end(), [&](const OpenOrder& order) {
      return order.round == result.round && order.dispatch == result.dispatch;
    });
    if (found == open.end()) return;
    const std::string facts = fmt::format(R"({},"compute_seconds":{:.6g},"waited_seconds":{:.6g})",
                                          facts_of(*found),
                                          result.compute.count(),
                                          result.waited.count());
    file_.add(result.worker, {name_of(*found), found->sent + result.waited, now, facts});
    open.erase(found);
  }

  void see(const Stop& stop, Seconds now) {
    std::vector<OpenOrder>& open = open_.at(stop.worker.index());
    for (const OpenOrder& order : open) {
      if (order.round == stop.round) write_unanswered(stop.worker, order, now, "stopped");
    }
    std::erase_if(open, [&](const OpenOrder& order) { return order.round == stop.round; });
  }

  void see(const Apply& apply, Seconds now) {
    if (!apply.sum.complete) return;
    file_.mark(detail::TraceFile::kDecoded,
               fmt::format("job {}", apply.job.value),
               now,
               fmt::format(R"("model":{},"messages":{},"residual":{:.6g})",
                           apply.model.value,
                           apply.sum.terms.size(),
                           apply.sum.residual));
  }

  void see(const RoundRecord& record) {
    file_.add(detail::TraceFile::kRounds,
              {fmt::format("round {}", record.round.value),
               record.opened,
               record.closed,
               fmt::format(R"("busy":{},"stragglers":{},"waited_out":{})",
                           record.busy,
                           record.stragglers.size(),
                           record.waited_out)});
  }

  void write_unanswered(WorkerId worker, const OpenOrder& order, Seconds now, const char* how) {
    file_.add(worker,
              {fmt::format("{}: {}", how, name_of(order)), order.sent, now, facts_of(order)});
  }

  void leave_unanswered(Seconds now) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      for (const OpenOrder& order : open_[i]) {
        write_unanswered(WorkerId{static_cast<int>(i)}, order, now, "unanswered");
      }
      open_[i].clear();
    }
  }

  std::unique_ptr<Coordinator> inner_;
  detail::TraceFile& file_;
  std::vector<std::vector<OpenOrder>> open_;  ///< shape (n)
};

}  // namespace

Timeline::Timeline(std::unique_ptr<detail::TraceFile> file) : file_(std::move(file)) {}

Timeline::Timeline(Timeline&&) noexcept = default;
Timeline& Timeline::operator=(Timeline&&) noexcept = default;
Timeline::~Timeline() = default;

Expected<Timeline> Timeline::create(const std::string& path) {
  auto file = detail::OutputFile::create(path, path);
  if (!file) return Unexpected<Error>(file.error());
  return Timeline(std::make_unique<detail::TraceFile>(std::move(file).value()));
}

std::unique_ptr<Coordinator> Timeline::watch(std::unique_ptr<Coordinator> inner,
                                             std::string_view label,
                                             int workers) {
  PACELINE_CHECK(file_ != nullptr);
  file_->begin_process(label, workers);
  return std::make_unique<WatchedCoordinator>(std::move(inner), *file_, workers);
}

void Timeline::add(std::string_view what, Seconds began, Seconds ended) {
  PACELINE_CHECK(file_ != nullptr);
  file_->add(detail::TraceFile::kMaster, {what, began, ended});
}

Expected<void> Timeline::close() {
  PACELINE_CHECK(file_ != nullptr);
  return std::exchange(file_, nullptr)->close();
}

}  // namespace paceline
