// Stands between the master and a transport, and sees to it that an answer that cannot be used
// costs no more than one that is late.
//
// An answer that holds NaN or infinity is discarded: its worker is a straggler. So is, where faults
// are injected, one that was lost, damaged, or never made. As soon as nobody else owes an answer,
// and the round still is not over, these orders are sent once more, as to a worker that has taken
// the place of the first. An answer that is not finite for the second time is handed on: it does
// harm only if it is used, and then the run ends with a line about it.
#pragma once

#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "paceline/faults.hpp"
#include "paceline/model_bank.hpp"
#include "runtime/transport.hpp"

namespace paceline {

class GuardTransport final : public Transport {
 public:
  /// @param bank  what orders that are sent again read
  /// @param tell  may be empty
  /// The first two must outlive the guard.
  GuardTransport(Transport& inner,
                 const ModelBank& bank,
                 std::vector<Fault> faults,
                 std::function<void(const FaultReport&)> tell);

  void send(Order order, std::vector<Parameters> parameters) override;

  void flush() override { inner_.flush(); }

  void stop(WorkerId worker, Round round) override;
  Expected<bool> receive(SteadyTime deadline, Delivery& out) override;

  int outstanding() const override { return static_cast<int>(asked_.size()); }

  bool awaits_answer() override;

  std::string losses() const override { return inner_.losses(); }

  void discard(const Delivery& delivery) override { inner_.discard(delivery); }

  void recycle(std::vector<float> buffer) override { inner_.recycle(std::move(buffer)); }

  int injected() const { return injected_; }

  int discarded() const { return discarded_; }

  int asked_again() const { return asked_again_; }

 private:
  struct Key {
    WorkerId worker;
    Round round;
    int dispatch = 0;

    auto operator<=>(const Key&) const = default;
  };

  struct Asked {
    Order order;
    SteadyTime sent;
    bool lost = false;     ///< no answer comes unless the order is sent again
    bool spoiled = false;  ///< an answer was not finite
  };

  struct Planned {
    Fault fault;
    bool begun = false;
    int end = 0;  ///< first round after it, once it has begun
  };

  struct Held {
    SteadyTime at;
    Delivery delivery;
  };

  enum class Fate { kDelivered, kLost, kHeld };

  void skip_faults_before(Round round);
  bool withheld(const Order& order);
  Planned* striking(FaultKind kind, WorkerId worker, Round round);
  Fate fate_of(Asked& asked, Delivery& delivery);
  bool nobody_else_answers();
  void ask_again();
  void lose(Asked& asked, Delivery& delivery);
  void tell(Round round, WorkerId worker, std::string what) const;

  Transport& inner_;
  const ModelBank& bank_;
  std::vector<Planned> faults_;
  std::function<void(const FaultReport&)> tell_;
  std::map<Key, Asked> asked_;  ///< orders neither answered nor stopped
  std::deque<Held> held_;       ///< answers of slow workers
  int lost_ = 0;                ///< how many of asked_ are
  bool begun_ = false;
  int injected_ = 0;
  int discarded_ = 0;
  int asked_again_ = 0;
};

}  // namespace paceline
