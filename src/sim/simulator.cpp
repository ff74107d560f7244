// The event loop: the earliest event goes to the coordinator, its actions make new events.
#include "paceline/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "paceline/check.hpp"
#include "sim/event_queue.hpp"
#include "sim/worker_model.hpp"

namespace paceline {
namespace {

class Simulation {
 public:
  Simulation(Coordinator& coordinator, const DelaySource& delays, const SimulatorOptions& options)
      : coordinator_(coordinator),
        options_(options),
        worker_count_(delays.workers()),
        workers_(delays, options.workers, options.stop_latency) {}

  Expected<SimulationResult> run() {
    if (auto ok = carry_out(coordinator_.start(now_)); !ok) return Unexpected(ok.error());
    while (!finished_) {
      if (queue_.empty()) return failed(stalled());
      const FutureEvent next = queue_.pop();
      PACELINE_DCHECK(next.at >= now_);
      if (auto ok = handle(next); !ok) return Unexpected(ok.error());
    }
    if (result_.rounds > 0) {
      result_.mean_stragglers = static_cast<double>(stragglers_) / result_.rounds;
    }
    if (result_.jobs > 0) result_.mean_residual = residuals_ / result_.jobs;
    return result_;
  }

 private:
  Expected<void> handle(const FutureEvent& next) {
    if (next.worker == FutureEvent::kTimer) {
      now_ = next.at;
      return carry_out(coordinator_.on(TimerFired{next.what}, now_));
    }
    const auto answer = workers_.answer(next);
    if (!answer) return {};
    now_ = next.at;
    const Order& order = answer->order;
    if (options_.on_answer) {
      if (auto ok = options_.on_answer(order); !ok) return ok;
    }
    const Result result{order.worker, order.round, order.dispatch, answer->compute, answer->waited};
    return carry_out(coordinator_.on(Arrived{result}, now_));
  }

  Expected<void> carry_out(Actions actions) {
    for (Action& action : actions) {
      auto ok = std::visit([this](auto& each) { return do_one(each); }, action);
      if (!ok) return ok;
    }
    return {};
  }

  Expected<void> do_one(Send& send) {
    const int worker = send.order.worker.value;
    if (worker < 0 || worker >= worker_count_) {
      return invalid(
          fmt::format("an order for worker {}, but the delays are those of {} workers; "
                      "allowed: a scheme for at most {}",
                      worker,
                      worker_count_,
                      worker_count_));
    }
    workers_.send(std::move(send.order), now_, queue_);
    return {};
  }

  Expected<void> do_one(const Stop& stop) {
    workers_.stop(stop.worker, stop.round, now_, queue_);
    return {};
  }

  Expected<void> do_one(const Arm& arm) {
    queue_.push(std::max(arm.at, now_), FutureEvent::kTimer, arm.timer);
    return {};
  }

  Expected<void> do_one(const Apply& apply) {
    if (apply.sum.complete) {
      ++result_.jobs;
      residuals_ += apply.sum.residual;
    }
    return options_.on_apply ? options_.on_apply(apply) : Expected<void>();
  }

  Expected<void> do_one(const Drop& drop) {
    if (options_.on_drop) options_.on_drop(drop);
    return {};
  }

  Expected<void> do_one(const RoundRecord& record) {
    if (record.busy > 0) ++result_.rounds;
    if (record.waited_out) ++result_.wait_outs;
    stragglers_ += record.stragglers.size();
    if (options_.observer) options_.observer(record);
    return {};
  }

  Expected<void> do_one(const Finish& finish) {
    if (!finish.why.empty()) return failed(finish.why);
    finished_ = true;
    result_.total = now_;
    return {};
  }

  std::string stalled() const {
    return fmt::format(
        "stalled at {:.6g} s, after {} rounds and {} decoded jobs: {}",
        now_.count(),
        result_.rounds,
        result_.jobs,
        workers_.outstanding() == 0
            ? std::string("no order is outstanding and no timer is armed")
            : fmt::format("{} outstanding orders will never be answered", workers_.outstanding()));
  }

  Coordinator& coordinator_;
  const SimulatorOptions& options_;
  int worker_count_;
  WorkerModel workers_;
  EventQueue queue_;
  Seconds now_{0};
  bool finished_ = false;
  long long stragglers_ = 0;
  double residuals_ = 0;
  SimulationResult result_;
};

}  // namespace

Expected<SimulationResult> simulate(Coordinator& coordinator,
                                    const DelaySource& delays,
                                    const SimulatorOptions& options) {
  return Simulation(coordinator, delays, options).run();
}

}  // namespace paceline
