// How a run goes on from a saved state. The coordinator is fed the same events again, and what it
// asks for is only remembered: who owes an answer since when, which timers are armed. Then the
// clock shows the time of the state, and the orders that are still owed go out with their age.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/master.hpp"

namespace paceline {
namespace {

struct Owed {
  Order order;
  Seconds sent;
};

Unexpected<Error> does_not_fit(const std::string& why) {
  return invalid("the saved state does not fit this run: " + why);
}

}  // namespace

Expected<void> Master::go_on(const RunState& state) {
  whole_ = false;
  if (auto restored = bank_.restore(state.bank); !restored) {
    return does_not_fit(restored.error().message);
  }
  std::vector<Owed> owed;              // in the order they were sent
  std::map<WorkerId, Seconds> turned;  // when a worker could turn to its next order
  std::vector<Version> versions = state.begun;
  versions.resize(static_cast<std::size_t>(bank_.models()));
  const auto remember = [&](Actions actions, Seconds now) {
    for (Action& action : actions) {
      if (auto* sent = std::get_if<Send>(&action)) {
        owed.push_back({std::move(sent->order), now});
      } else if (const auto* stop = std::get_if<Stop>(&action)) {
        const auto first = std::find_if(owed.begin(), owed.end(), [&](const Owed& o) {
          return o.order.worker == stop->worker;
        });
        const bool at_it = first != owed.end() && first->order.round == stop->round;
        if (at_it) turned[stop->worker] = now;
        std::erase_if(owed, [&](const Owed& o) {
          return o.order.worker == stop->worker && o.order.round == stop->round;
        });
      } else if (const auto* arm = std::get_if<Arm>(&action)) {
        timers_.push({arm->at, arm->timer});
      } else if (const auto* applied = std::get_if<Apply>(&action)) {
        if (applied->sum.complete) versions.at(applied->model.index()) = applied->makes;
      } else if (std::holds_alternative<Finish>(action)) {
        finished_ = true;
      }
    }
  };

  for (const LoggedEvent& event : state.events) {
    for (int k = 0; k < event.studied; ++k) coordinator_.study();
    switch (event.kind) {
      case LoggedEvent::Kind::kStart:
        remember(coordinator_.start(event.now), event.now);
        break;
      case LoggedEvent::Kind::kArrived: {
        const Result& result = event.result;
        const auto found = std::find_if(owed.begin(), owed.end(), [&](const Owed& o) {
          return o.order.worker == result.worker && o.order.round == result.round &&
                 o.order.dispatch == result.dispatch;
        });
        if (found == owed.end()) {
          return does_not_fit(fmt::format("worker {} answered round {} without an order",
                                          result.worker.value,
                                          result.round.value));
        }
        owed.erase(found);
        turned[result.worker] = event.now;
        remember(coordinator_.on(Arrived{result}, event.now), event.now);
        break;
      }
      case LoggedEvent::Kind::kTimer:
        if (timers_.empty() || timers_.top().timer != event.timer) {
          return does_not_fit(fmt::format("timer {} fired but was not armed", event.timer));
        }
        timers_.pop();
        remember(coordinator_.on(TimerFired{event.timer}, event.now), event.now);
        break;
    }
  }
  for (int k = 0; k < state.studied; ++k) coordinator_.study();
  for (std::size_t m = 0; m < versions.size(); ++m) {
    const Version saved = bank_.version(ModelId{static_cast<int>(m)});
    if (saved == versions[m]) continue;
    return does_not_fit(fmt::format("model {} was saved after {} updates, its events make {}",
                                    m,
                                    saved.value,
                                    versions[m].value));
  }

  begun_ = state.begun;
  totals_ = state.totals;
  if (options_.checkpoints.take) {
    events_ = state.events;
    studied_ = state.studied;
  }
  clock_ = RunClock(state.now);
  for (Owed& o : owed) {
    o.order.age = state.now - o.sent;
    const auto free = turned.find(o.order.worker);
    if (free != turned.end()) o.order.waited = std::max(Seconds{0}, free->second - o.sent);
    // What is owed to a job that is decoded is only waited for: it tells how long the worker took.
    for (Task& task : o.order.tasks) {
      if (bank_.version(task.model) != task.reads) task.row = Row();
    }
    if (auto sent = send(std::move(o.order)); !sent) return sent;
  }
  transport_.flush();
  whole_ = true;
  return {};
}

}  // namespace paceline
