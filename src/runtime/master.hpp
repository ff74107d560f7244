// The master's loop: answers and timers go into the coordinator as events, its actions are carried
// out.
//
// Orders, stops and timers are carried out at once; applying, dropping and reporting follow, in
// their order, when the orders are out. So decoding overlaps with the next round's computing unless
// an order reads a version that an Apply before it makes: then the actions up to that one go first.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/model_bank.hpp"
#include "runtime/clock.hpp"
#include "runtime/remote_bank.hpp"
#include "runtime/transport.hpp"
#include "runtime/verifier.hpp"

namespace paceline {

struct MasterOptions {
  std::function<void(const RoundReport&)> observer;  ///< may be empty
  std::function<bool()> interrupted;                 ///< may be empty
  std::function<void(const MasterWork&)> on_work;    ///< may be empty
  RunCheckpoints checkpoints = {};
  std::size_t bytes_per_number = sizeof(float);  ///< of messages, for the report
  RemoteBank* remote = nullptr;                  ///< where the payloads are, if not in the bank
};

class Master {
 public:
  /// @param verifier  nullptr: gradients are not verified
  Master(Coordinator& coordinator,
         ModelBank& bank,
         Transport& transport,
         Verifier* verifier,
         MasterOptions options);

  /// Plays the coordinator to its end. Totals of the verifier and the transport are not in the
  /// result.
  Expected<LocalRunResult> run();

 private:
  struct Timer {
    Seconds at;
    int timer;

    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : timer > other.timer;
    }
  };

  /// Does `work`, and tells who asked how long it took.
  template <class Work>
  auto timed(std::string_view what, Work&& work) {
    if (!options_.on_work) return work();
    const Seconds began = clock_.now();
    auto result = work();
    options_.on_work({what, began, clock_.now()});
    return result;
  }

  Expected<void> begin();
  Expected<void> go_on(const RunState& state);
  Expected<void> look_around();
  Expected<void> wait_for_event();
  bool study();
  Expected<void> tell(const Event& event, Seconds now);
  void take_checkpoint();
  std::string stalled() const;
  Expected<void> on_delivery();
  Expected<void> carry_out(Actions actions);
  Expected<void> send_out(Actions actions);
  Expected<void> send(Order order);
  Expected<void> settle_first();
  Expected<void> apply(const Apply& apply);
  void drop(const Drop& drop);
  void report(const RoundRecord& record);

  Coordinator& coordinator_;
  ModelBank& bank_;
  Transport& transport_;
  Verifier* verifier_;
  MasterOptions options_;

  RunClock clock_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  Delivery delivery_;
  std::deque<Action> deferred_;            ///< Apply, Drop, RoundRecord, Finish
  std::vector<RoundReport::Job> decoded_;  ///< since the last report
  bool finished_ = false;
  RunTotals totals_;
  std::vector<Version> begun_;       ///< as in RunState
  std::vector<LoggedEvent> events_;  ///< kept only where checkpoints are taken
  int studied_ = 0;                  ///< since the last event
  bool whole_ = true;                ///< all that the last event asked for has been carried out
  bool round_closed_ = false;        ///< since the last look
  SteadyTime leave_by_ = kNoDeadline;
};

}  // namespace paceline
